//! SHA-256: of definitions, of files, of data, of arguments. In hex wherever a person or a client reads it.

use std::fmt;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of some bytes.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of a sequence of parts. Lengths are part of it, so that no two sequences run into one.
    pub fn of_parts(parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        let mut digest = Sha256::new();
        for part in parts {
            let part = part.as_ref();
            digest.update(part.len().to_le_bytes());
            digest.update(part);
        }
        Self(digest.finalize().into())
    }

    /// The digest that these bytes are, if there are 32 of them.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The digest that a text of 64 hexadecimal digits in lower case is.
    pub fn from_hex(text: &str) -> Option<Self> {
        Self::from_bytes(&HEXLOWER.decode(text.as_bytes()).ok()?)
    }

    /// Its 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// 64 hexadecimal digits in lower case.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEXLOWER.encode_mut_str(&self.0, &mut [0; 64]))
    }
}
