//! The check of keys by which the server seals data.

use secrecy::{ExposeSecret, SecretString};

use super::{reader::Reader, value::HIDDEN};

/// The least bytes of a key.
const MIN_BYTES: usize = 32;

/// Reports keys that are short, repeated or taken from a printed configuration, as a problem of the setting `name`.
pub(super) fn check(reader: &mut Reader, name: &str, keys: &[SecretString]) {
    let texts: Vec<_> = keys.iter().map(ExposeSecret::expose_secret).collect();
    let what = if texts.contains(&HIDDEN) {
        "stands in a printed configuration: write the keys themselves"
    } else if texts.iter().any(|text| text.len() < MIN_BYTES) {
        "must hold keys of at least 32 bytes, such as `openssl rand -base64 32` prints"
    } else if texts.iter().enumerate().any(|(at, text)| texts[..at].contains(text)) {
        "must not hold a key twice"
    } else {
        return;
    };
    reader.problem(name, what);
}
