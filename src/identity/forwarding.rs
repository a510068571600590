//! The client certificate of which a proxy tells that it verified it: the header `x-forwarded-client-cert` in Envoy's
//! form, a list of elements, each of pairs such as `Hash=…;URI="spiffe://…"`.
//!
//! Only the last element counts, which the proxy itself has added. It needs `Hash`, by which Envoy marks that there was
//! a certificate. Not here: whose header is believed.

use std::borrow::Cow;

use crate::{PeerRefusal, Workload, peer::workload_of};

/// The digits of a SHA-256.
const HASH_DIGITS: usize = 64;

/// The workload that the value of the header names.
pub fn forwarded_workload(value: &[u8]) -> Workload {
    let uris = uris(value).ok_or(PeerRefusal::MalformedForwarding)?;
    workload_of(uris.iter().map(AsRef::as_ref))
}

/// The URIs of the certificate of the last element. `None` if that cannot be read.
fn uris(value: &[u8]) -> Option<Vec<Cow<'_, str>>> {
    let last = split(str::from_utf8(value).ok()?, ',')?.pop()?;
    let (mut uris, mut hashes) = (Vec::new(), 0);
    for pair in split(last, ';')? {
        let (key, value) = pair.split_once('=')?;
        let value = unquoted(value.trim())?;
        match key.trim().to_ascii_lowercase().as_str() {
            "uri" => uris.push(value),
            "hash" => {
                let is_hash = value.len() == HASH_DIGITS && value.bytes().all(|it| it.is_ascii_hexdigit());
                hashes += usize::from(is_hash);
                is_hash.then_some(())?;
            }
            _ => {}
        }
    }
    (hashes == 1).then_some(uris)
}

/// The parts of a text between separators that are not within quotes. `None` if a quote has no end.
fn split(text: &str, separator: char) -> Option<Vec<&str>> {
    let (mut parts, mut from, mut is_quoted, mut is_escaped) = (Vec::new(), 0, false, false);
    for (at, c) in text.char_indices() {
        if std::mem::take(&mut is_escaped) {
            continue;
        }
        match c {
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            c if c == separator && !is_quoted => {
                parts.push(&text[from..at]);
                from = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    (!is_quoted).then_some(parts)
}

/// The text of a value, which stands in quotes or holds none.
fn unquoted(value: &str) -> Option<Cow<'_, str>> {
    let Some(rest) = value.strip_prefix('"') else { return (!value.contains('"')).then_some(value.into()) };
    let (inner, end) = rest.split_at(rest.len().checked_sub(1)?);
    (end == "\"").then_some(())?;
    let mut text = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => text.push(chars.next()?),
            '"' => return None,
            c => text.push(c),
        }
    }
    Some(text.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ID: &str = "spiffe://example.org/agent";
    const HASH: &str = "Hash=468ed33be74eee6556d90c0149c1309e9ba61d6425303443c0748a02dd8de688";

    #[test]
    fn the_last_element_names_the_workload() {
        let other = "spiffe://example.org/other";
        for value in [
            format!("By=spiffe://example.org/proxy;{HASH};URI={ID}"),
            format!("By=spiffe://a/b;By=spiffe://a/c;{HASH};Subject=\"\";URI={ID}"),
            format!("{HASH};URI={other},{HASH};URI={ID}"),
            format!("rubbish\\,=;,{HASH};URI={ID}"),
            format!("{HASH};Subject=\"CN=a,O=\\\"b;URI={other}\\\"\";uri=\"{ID}\""),
            format!("{HASH};Subject=\"CN=a\\\\\";URI={ID}"),
            format!(" {HASH} ; URI={ID} "),
            format!("{HASH};Cert=\"-----BEGIN%20CERTIFICATE-----%0A\";URI={ID};DNS=a.example;DNS=b.example"),
        ] {
            assert_eq!(forwarded_workload(value.as_bytes()), Ok(ID.parse().unwrap()), "{value}");
        }
    }

    #[test]
    fn what_is_no_element_of_one_workload_is_refused() {
        use PeerRefusal::{MalformedForwarding, NoSpiffeId, NotSpiffeId, SeveralUris};
        for (value, refusal) in [
            (HASH.to_owned(), NoSpiffeId),
            (format!("{HASH};URI="), NotSpiffeId),
            (format!("{HASH};URI=https://example.org"), NotSpiffeId),
            (format!("{HASH};URI={ID};URI={ID}"), SeveralUris),
            (format!("{HASH};URI={ID},{HASH}"), NoSpiffeId),
            (format!("URI={ID}"), MalformedForwarding),
            (format!("Hash=;URI={ID}"), MalformedForwarding),
            (format!("Hash=468e;URI={ID}"), MalformedForwarding),
            (format!("{HASH};{HASH};URI={ID}"), MalformedForwarding),
            (format!("{HASH};URI={ID},"), MalformedForwarding),
            (format!("{HASH};URI={ID};"), MalformedForwarding),
            (format!("{HASH};URI=\"{ID}"), MalformedForwarding),
            (format!("{HASH};URI=\"{ID}\"x"), MalformedForwarding),
            (format!("{HASH};URI={ID}\""), MalformedForwarding),
            (format!("{HASH};Subject=\"\\\";URI={ID}"), MalformedForwarding),
            (ID.to_owned(), MalformedForwarding),
            (String::new(), MalformedForwarding),
        ] {
            assert_eq!(forwarded_workload(value.as_bytes()), Err(refusal), "{value}");
        }
        assert_eq!(forwarded_workload(b"URI=\xff"), Err(MalformedForwarding));
    }

    proptest! {
        #[test]
        fn a_client_says_nothing_by_a_subject_of_its_own_choice(subject in "\\PC{0,40}") {
            let quoted = subject.replace('\\', "\\\\").replace('"', "\\\"");
            let value = format!("{HASH};Subject=\"{quoted}\";URI={ID}");
            prop_assert_eq!(forwarded_workload(value.as_bytes()), Ok(ID.parse().unwrap()));
        }

        #[test]
        fn what_stands_before_the_proxys_element_does_not_count(before in "[^\"\\\\]{0,40}") {
            let value = format!("{before},{HASH};URI={ID}");
            prop_assert_eq!(forwarded_workload(value.as_bytes()), Ok(ID.parse().unwrap()));
        }
    }
}
