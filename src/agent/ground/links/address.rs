//! Addresses that stand in a text without marks around them.

use super::link::{Link, Target, unescaped};

/// The longest scheme.
const LONGEST_SCHEME: usize = 32;

/// The address around `://`.
pub(super) fn bare(text: &str, at: usize) -> Link<'_> {
    let is_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'\\');
    let scheme = text[..at].bytes().rev().take(LONGEST_SCHEME).take_while(is_scheme).count();
    from(text, at - scheme, at)
}

/// The address from one place on, which goes on at least beyond the other one.
pub(super) fn from(text: &str, start: usize, beyond: usize) -> Link<'_> {
    let mut is_escaped = false;
    let ends = |c: char| {
        let ends =
            c.is_whitespace() || c.is_control() || (matches!(c, '<' | '>' | '|' | '"' | '`') && !is_escaped);
        is_escaped = c == '\\' && !is_escaped;
        ends
    };
    let end = text[beyond..].find(ends).map_or(text.len(), |len| beyond + len);
    Link { range: start..end, target: Target::Address(unescaped(&text[start..end])) }
}

/// The address of a mailbox around `@`, if there is one.
pub(super) fn email(text: &str, at: usize) -> Option<Link<'_>> {
    let is_local =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'+' | b'-' | b'\\');
    let local = text[..at].bytes().rev().take(64).take_while(is_local).count();
    let is_domain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let domain = text[at + 1..].bytes().take(255).take_while(is_domain).count();
    let name = text[at + 1..at + 1 + domain].trim_end_matches(['.', '-', '_']);
    let top = name.rsplit_once('.').map(|(_, top)| top)?;
    let is_email = local > 0 && top.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    let range = at - local..at + 1 + name.len();
    is_email.then(|| Link { target: Target::Address(unescaped(&text[range.clone()])), range })
}
