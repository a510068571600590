//! Finds addresses, images and HTML in a text.
//!
//! It is stricter than Markdown where renderers differ: it searches code too, and knows every scheme.

use super::{
    address::{bare, email, from},
    link::{Link, leading_to, new_hidden},
};

/// The links of a text. In a block of code angle brackets are not HTML.
pub(in crate::ground) fn links(text: &str, is_code: bool) -> Vec<Link<'_>> {
    let mut found: Vec<Link<'_>> = definition(text).into_iter().collect();
    let (bytes, mut at) = (text.as_bytes(), 0);
    while at < bytes.len() {
        let link = match bytes[at] {
            b'\\' => match parse_escaped(text, at + 1) {
                None => {
                    at += 2;
                    continue;
                }
                link => link,
            },
            b'!' if bytes.get(at + 1) == Some(&b'[') => Some(new_hidden(at..at + 2)),
            b'<' => angle(text, at, is_code),
            b']' if bytes.get(at + 1) == Some(&b'(') => Some(destination(text, at)),
            b'&' => entity(text, at),
            b':' if is_authority(&text[at..]) => Some(bare(text, at)),
            b'w' | b'W' => www(text, at),
            b'@' => email(text, at),
            _ => None,
        };
        at = link.as_ref().map_or(at + 1, |link| link.range.end.max(at + 1));
        found.extend(link);
    }
    found
}

/// What an escaped character makes all the same: some programs look for addresses when the escapes are gone.
fn parse_escaped(text: &str, at: usize) -> Option<Link<'_>> {
    match text.as_bytes().get(at)? {
        b':' if is_authority(&text[at..]) => Some(bare(text, at)),
        b'@' => email(text, at),
        _ => None,
    }
}

/// Whether a text begins with `://`, escaped or not.
fn is_authority(text: &str) -> bool {
    let slash = |text: &str| text.strip_prefix('\\').unwrap_or(text).strip_prefix('/').map(str::len);
    let rest = text.strip_prefix(':').unwrap_or_default();
    slash(rest).is_some_and(|len| slash(&rest[rest.len() - len..]).is_some())
}

/// `<https://a.b>` is an address, `<b>` is HTML, `a < b` is neither.
fn angle(text: &str, at: usize, is_code: bool) -> Option<Link<'_>> {
    let rest = &text[at + 1..];
    if is_code || !rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')) {
        return None;
    }
    let end = rest.find(|c: char| c == '>' || c == '<' || c.is_whitespace())?;
    let inner = &rest[..end];
    let is_address = rest[end..].starts_with('>') && (inner.contains(':') || inner.contains('@'));
    let range = at..at + 1 + end + 1;
    if is_address { Some(leading_to(range, inner)) } else { Some(new_hidden(at..at + 1 + end)) }
}

/// What stands behind `](`, up to the bracket that closes it.
fn destination(text: &str, at: usize) -> Link<'_> {
    let start = at + 2;
    let rest = text[start..].trim_start_matches([' ', '\t']);
    let from = text.len() - rest.len();
    let (inner, end) = match rest.strip_prefix('<') {
        Some(inner) => {
            let end = inner.find(['>', '\n']).unwrap_or(inner.len());
            (&inner[..end], from + 1 + end)
        }
        None => (&rest[..closing(rest)], from + closing(rest)),
    };
    leading_to(at..end.max(start), inner)
}

/// Where an address in round brackets ends: at white space, or at the bracket that was not opened within it.
fn closing(text: &str) -> usize {
    let (mut depth, mut is_escaped) = (0_usize, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '(' => depth += 1,
            ')' if depth == 0 => return at,
            ')' => depth -= 1,
            c if c.is_whitespace() || c.is_control() => return at,
            _ => {}
        }
    }
    text.len()
}

/// `[name]: address` at the beginning of a line gives links elsewhere their address.
fn definition(text: &str) -> Option<Link<'_>> {
    let start = text.find(|c: char| !(c.is_whitespace() || matches!(c, '>' | '-' | '*' | '+')))?;
    let rest = text[start..].strip_prefix('[')?;
    let mut is_escaped = false;
    let end = rest.find(|c: char| {
        let is_end = c == ']' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    })?;
    let behind = rest[end + 1..].strip_prefix(':')?.trim_start();
    let len = behind.find(char::is_whitespace).unwrap_or(behind.len());
    Some(leading_to(start..start + 1, behind[..len].trim_matches(['<', '>'])))
}

/// Entities hide characters; those that only make a text readable may stay.
fn entity(text: &str, at: usize) -> Option<Link<'_>> {
    let rest = &text[at + 1..];
    if rest.starts_with('#') {
        return Some(new_hidden(at..at + 2));
    }
    let len = rest.bytes().take(32).take_while(u8::is_ascii_alphanumeric).count();
    let is_entity = len > 1 && rest[len..].starts_with(';');
    let is_plain = matches!(&rest[..len], "amp" | "nbsp" | "lt" | "gt" | "quot" | "apos");
    (is_entity && !is_plain).then(|| new_hidden(at..at + 1 + len))
}

/// `www.a.b` without a scheme.
fn www(text: &str, at: usize) -> Option<Link<'_>> {
    let is_www = text.get(at..at + 3).is_some_and(|it| it.eq_ignore_ascii_case("www"));
    if !is_www || text[..at].ends_with(char::is_alphanumeric) {
        return None;
    }
    let rest = text[at + 3..].trim_start_matches('\\').strip_prefix('.')?;
    rest.starts_with(char::is_alphanumeric).then(|| from(text, at, at))
}

#[cfg(test)]
mod tests {
    use super::{super::link::Target, *};

    fn targets(text: &str) -> Vec<String> {
        let target = |link: Link<'_>| match link.target {
            Target::Address(address) | Target::Destination(address) => address.into_owned(),
            Target::Hidden => "hidden".to_owned(),
        };
        links(text, false).into_iter().map(target).collect()
    }

    #[test]
    fn whatever_may_become_a_link_is_found() {
        for (text, expected) in [
            (
                "see https://a.b/c_d, and [x](https://a.b/(y) \"t\")",
                &["https://a.b/c_d,", "https://a.b/(y)"][..],
            ),
            (
                "[x](javascript:alert(1)) <https://a.b> <b> <!-- -->",
                &["javascript:alert(1)", "https://a.b", "hidden", "hidden"],
            ),
            ("![x](y) \\![x\\](y)", &["hidden", "y"]),
            ("[x](", &["hidden"]),
            ("[x]: //a.b", &["//a.b"]),
            ("> [x]:\n", &["hidden"]),
            ("www.a.b me@a.co.uk 10@1.5 a < b & c &amp; d", &["www.a.b", "me@a.co.uk"]),
            ("&#106;avascript&colon;x `https://a.b`", &["hidden", "hidden", "https://a.b"]),
            ("\\[x\\](y) AT&T; \\<b\\> https\\://a.b/c\\_d", &["https://a.b/c_d"]),
            ("ftp://x.y/z|w", &["ftp://x.y/z"]),
        ] {
            assert_eq!(targets(text), expected, "{text}");
        }
    }
}
