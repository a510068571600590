//! Numbers of bytes as people write them: `64KiB`, `1MiB`, or the plain number.

use super::{
    raw_value::RawValue,
    value::{Value, quote},
};

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Size(pub(super) u64);

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

impl Value for Size {
    fn read(found: &RawValue) -> Result<Self, String> {
        let bytes = match found {
            RawValue::Whole(number) => u64::try_from(*number).ok(),
            RawValue::Text(text) => parse(text),
            _ => None,
        };
        let expected = "a number of bytes such as 65536, 64KiB or 1MiB";
        bytes.map(Self).ok_or_else(|| found.instead_of(expected))
    }

    fn to_toml(&self) -> String {
        // A plain number is one in TOML too, but a text looks the same with a unit and without.
        quote(&format(self.0))
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
