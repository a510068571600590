//! Numbers of bytes as people write them: `64KiB`, `1MiB`, or the plain number.

use std::fmt;

use serde::{Deserializer, Serializer, de};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// Reads a number of bytes; `None` if it is none.
pub(super) fn parse(text: &str) -> Option<u64> {
    let scaled = |digits: &str, unit: u64| digits.trim_end().parse::<u64>().ok()?.checked_mul(unit);
    if let Some(digits) = text.strip_suffix("KiB") {
        return scaled(digits, KIB);
    }
    text.strip_suffix("MiB").map_or_else(|| scaled(text, 1), |digits| scaled(digits, MIB))
}

/// Writes a number of bytes in the largest unit that needs no fraction.
pub(super) fn format(bytes: u64) -> String {
    match bytes {
        0 => "0".to_owned(),
        bytes if bytes.is_multiple_of(MIB) => format!("{}MiB", bytes / MIB),
        bytes if bytes.is_multiple_of(KIB) => format!("{}KiB", bytes / KIB),
        bytes => bytes.to_string(),
    }
}

pub(super) fn deserialize<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<u64>,
{
    let bytes = deserializer.deserialize_any(Bytes)?;
    T::try_from(bytes).map_err(|_| de::Error::custom(format!("{bytes} bytes are too many")))
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the form serde asks for")]
pub(super) fn serialize<S: Serializer, T: Copy + TryInto<u64>>(
    bytes: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format((*bytes).try_into().unwrap_or(u64::MAX)))
}

struct Bytes;

impl de::Visitor<'_> for Bytes {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of bytes such as 65536, 64KiB or 1MiB")
    }

    fn visit_u64<E: de::Error>(self, bytes: u64) -> Result<u64, E> {
        Ok(bytes)
    }

    fn visit_i64<E: de::Error>(self, bytes: i64) -> Result<u64, E> {
        u64::try_from(bytes).map_err(|_| E::invalid_value(de::Unexpected::Signed(bytes), &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<u64, E> {
        parse(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for text in ["0", "1", "65535", "64KiB", "1MiB", "1025KiB"] {
            assert_eq!(format(parse(text).unwrap()), text);
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for bad in ["", "KiB", "64KB", "-1", "1.5MiB", "18446744073709551615MiB"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
