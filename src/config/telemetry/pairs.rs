//! Parses percent-encoded lists of `key=value`, separated by commas: the format of headers and resource attributes in
//! the OpenTelemetry specification.

use percent_encoding::percent_decode_str;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) key: String,
    pub(super) value: String,
}

/// The entries, or for one that is invalid its number, counted from 1. A value may contain `=` without encoding.
pub(super) fn read(list: &str) -> impl Iterator<Item = Result<Pair, usize>> {
    let entries = list.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    entries.enumerate().map(|(index, entry)| pair(entry).ok_or(index + 1))
}

fn pair(entry: &str) -> Option<Pair> {
    let (key, value) = entry.split_once('=')?;
    let pair = Pair { key: decode(key.trim())?, value: decode(value.trim())? };
    (!pair.key.is_empty()).then_some(pair)
}

/// A text percent-decoded; `None` if the encoding is invalid.
pub(super) fn decode(text: &str) -> Option<String> {
    // The decoder ignores an invalid escape; here it is an error.
    let is_encoded = text.split('%').skip(1).all(|after| {
        let digits = after.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    });
    if !is_encoded {
        return None;
    }
    percent_decode_str(text).decode_utf8().ok().map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_decoded_one_by_one() {
        let found: Vec<_> =
            read("team=a b, k8s.pod.name = x=y ,,novalue,=v,at=caf%C3%A9%2C%3d,half=%C3,rate=10%,e=")
                .collect();
        let pair = |key: &str, value: &str| Ok(Pair { key: key.to_owned(), value: value.to_owned() });
        let expected = [
            pair("team", "a b"),
            pair("k8s.pod.name", "x=y"),
            Err(3),
            Err(4),
            pair("at", "café,="),
            Err(6),
            Err(7),
            pair("e", ""),
        ];
        assert_eq!(found, expected);
    }
}
