//! Which addresses an answer may contain: those that stand in the results, and as a link only if they lead to a page or
//! a mailbox.

use std::{collections::HashSet, iter};

use serde_json::Value;

use super::{
    find::links,
    link::{Target, unescape},
};
use crate::ground::{escape::escape, plain::plain};

/// The addresses of a turn's results.
#[derive(Debug, Default)]
pub(in crate::ground) struct AllowList(HashSet<Box<str>>);

/// What may stand behind an address and belong to the sentence.
const TRAILING: &[char] =
    &['.', ',', ':', ';', '!', '?', '*', '_', '~', '\'', ')', ']', '}', '”', '’', '»', '…', '\\'];

/// Maximum number of them.
const MOST_TRAILING: usize = 16;

impl AllowList {
    /// Takes the addresses of a result.
    pub(in crate::ground) fn add(&mut self, value: &Value) {
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            match value {
                Value::String(text) => self.add_text(text),
                Value::Array(items) => open.extend(items),
                Value::Object(map) => open.extend(map.values()),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
    }

    fn add_text(&mut self, text: &str) {
        // Nearly no text has one.
        if !["://", "www.", "@"].iter().any(|sign| text.contains(sign)) {
            return;
        }
        if !text.contains(char::is_whitespace) {
            self.0.insert(unescape(text).into());
        }
        self.add_links(text);
        // Also as an answer quotes it.
        self.add_links(&escape(&plain(text)));
    }

    fn add_links(&mut self, text: &str) {
        // A quotation has its angle brackets escaped, so they are not HTML.
        for link in links(text, false).into_iter().chain(links(text, true)) {
            if let Target::Address(address) | Target::Destination(address) = link.target {
                self.0.insert(within(&address).last().unwrap_or(&address).into());
                self.0.insert(address.into());
            }
        }
    }

    /// Whether what an answer leads to may stand there.
    pub(in crate::ground) fn allows(&self, target: &Target<'_>) -> bool {
        match target {
            Target::Address(address) => self.has(address),
            Target::Destination(address) => is_page(address) && self.has(address),
            Target::Hidden => false,
        }
    }

    fn has(&self, address: &str) -> bool {
        let bare = address.strip_prefix("mailto:").unwrap_or(address);
        within(bare).any(|part| self.0.contains(part))
    }
}

/// Whether a link may have the address: of a page or of a mailbox.
fn is_page(address: &str) -> bool {
    let known = ["http", "https", "mailto"];
    let scheme = address.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_none_or(|scheme| known.iter().any(|it| it.eq_ignore_ascii_case(scheme)))
}

/// An address, and the same without one or more of the marks behind it.
fn within(address: &str) -> impl Iterator<Item = &str> {
    iter::successors(Some(address), |shown| shown.strip_suffix(TRAILING)).take(MOST_TRAILING)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_addresses_of_the_results_are_allowed() {
        let mut allowed = AllowList::default();
        allowed.add(
            &json!({"a": ["https://a.b/c?d=(e)", "see https://a.b/f. Or me@a.co"], "b": "javascript:x", "c": "or steam://x"}),
        );
        let may = |address: &'static str| allowed.allows(&Target::Destination(address.into()));
        for good in
            ["https://a.b/c?d=(e)", "https://a.b/c?d=(e).", "https://a.b/f", "https://a.b/f).", "me@a.co"]
        {
            assert!(may(good), "{good}");
        }
        for bad in ["https://a.b/", "https://a.b/f/g", "http://a.b/f", "javascript:x", "//a.b/f", ""] {
            assert!(!may(bad), "{bad}");
        }
        // As text it leads nowhere.
        assert!(allowed.allows(&Target::Address("steam://x".into())) && !may("steam://x"));
        assert!(!allowed.allows(&Target::Hidden));
    }
}
