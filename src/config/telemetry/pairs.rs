//! Lists of `key=value`, separated by commas, in percent-encoding: how the OpenTelemetry specification has headers and
//! resource attributes in a variable.

use percent_encoding::percent_decode_str;

/// An entry, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) key: String,
    pub(super) value: String,
}

/// The entries; of one that is none, its number, from 1. An equals sign may stand in a value as it is.
pub(super) fn read(list: &str) -> impl Iterator<Item = Result<Pair, usize>> {
    let entries = list.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    entries.enumerate().map(|(index, entry)| pair(entry).ok_or(index + 1))
}

fn pair(entry: &str) -> Option<Pair> {
    let (key, value) = entry.split_once('=')?;
    let pair = Pair { key: decoded(key.trim())?, value: decoded(value.trim())? };
    (!pair.key.is_empty()).then_some(pair)
}

/// A text without its percent-encoding, if that is right.
pub(super) fn decoded(text: &str) -> Option<String> {
    // The decoder leaves what is no hexadecimal number as it is: here it is a mistake.
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
