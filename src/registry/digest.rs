//! SHA-256 in hex: of definitions, of files, of data.

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

/// The digest of some bytes.
pub(super) fn of_bytes(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// The digest of a sequence of texts. Lengths are part of it, so that no two sequences run into one.
pub(super) fn of_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut digest = Sha256::new();
    for text in texts {
        digest.update(text.len().to_le_bytes());
        digest.update(text);
    }
    HEXLOWER.encode(&digest.finalize())
}
