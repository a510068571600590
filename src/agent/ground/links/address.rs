//! Addresses that stand in a text without marks around them.

use super::link::{Link, Target, unescape};

const LONGEST_SCHEME: usize = 32;

/// The address around `://`.
pub(super) fn bare(text: &str, at: usize) -> Link<'_> {
    let before = text[..at].trim_end_matches('\\');
    let letters = before.bytes().rev().take(LONGEST_SCHEME).take_while(u8::is_ascii_alphabetic).count();
    let letters = before[before.len() - letters..].to_ascii_lowercase();
    // Programs find `http` behind other letters too.
    let known = ["https", "http"].into_iter().find(|known| letters.ends_with(known));
    let scheme = known.map_or(letters.len(), str::len);
    from(text, before.len() - scheme, at)
}

/// The address from one place on, which goes on at least beyond the other one.
pub(super) fn from(text: &str, start: usize, beyond: usize) -> Link<'_> {
    let ends = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '|' | '"' | '`');
    let end = text[beyond..].find(ends).map_or(text.len(), |len| beyond + len);
    let address = text[start..end].trim_end_matches('\\');
    Link { range: start..end, target: Target::Address(unescape(address)) }
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
    is_email.then(|| Link { target: Target::Address(unescape(&text[range.clone()])), range })
}
