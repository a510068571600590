//! Tokenises the tags of a piece of HTML in one pass: enough to distinguish text from markup, however malformed.
//!
//! Not a parser: nothing is nested, nothing is decoded. A tag, comment or script that never ends swallows the rest.

/// A piece of HTML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Text, with its entities as they are written.
    Text(&'a str),
    /// `<name attributes>`.
    Open(Tag<'a>),
    /// `</name>`.
    Close(&'a str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    pub(super) name: &'a str,
    attributes: &'a str,
}

/// The tokens of a piece of HTML, in order.
pub(super) struct Tokens<'a> {
    rest: &'a str,
    /// The element whose content is raw text, up to its closing tag.
    raw: Option<&'a str>,
}

/// Elements whose content is raw text.
const RAW: [&str; 9] =
    ["script", "style", "iframe", "noembed", "noframes", "noscript", "textarea", "title", "xmp"];

impl<'a> Tokens<'a> {
    pub(super) fn of(html: &'a str) -> Self {
        Self { rest: html, raw: None }
    }

    fn take(&mut self, len: usize) -> &'a str {
        let (head, rest) = self.rest.split_at(len);
        self.rest = rest;
        head
    }

    /// Skips what is in a raw element; its closing tag comes next.
    fn skip_raw(&mut self, name: &str) {
        let is_end = |at: &usize| {
            let end = &self.rest.as_bytes()[*at..];
            end.len() > name.len() + 1
                && end[1] == b'/'
                && end[2..].len() >= name.len()
                && end[2..2 + name.len()].eq_ignore_ascii_case(name.as_bytes())
        };
        let end = self.rest.match_indices('<').map(|(at, _)| at).find(is_end);
        self.take(end.unwrap_or(self.rest.len()));
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        if let Some(name) = self.raw.take() {
            self.skip_raw(name);
        }
        loop {
            let after = match self.rest.find('<') {
                None if self.rest.is_empty() => return None,
                None => return Some(Token::Text(self.take(self.rest.len()))),
                Some(0) => self.rest.as_bytes().get(1).copied().unwrap_or(b' '),
                Some(at) => return Some(Token::Text(self.take(at))),
            };
            match after {
                b'!' if self.rest.starts_with("<!--") => drop(self.take(end_of(self.rest, "-->"))),
                b'!' | b'?' => drop(self.take(end_of(self.rest, ">"))),
                b'/' => {
                    let tag = self.take(end_of(self.rest, ">"));
                    return Some(Token::Close(name(&tag[2..])));
                }
                b'a'..=b'z' | b'A'..=b'Z' => {
                    let tag = self.take(end_of_tag(self.rest));
                    let name = name(&tag[1..]);
                    self.raw = RAW.iter().any(|raw| name.eq_ignore_ascii_case(raw)).then_some(name);
                    return Some(Token::Open(Tag { name, attributes: &tag[1 + name.len()..] }));
                }
                _ => return Some(Token::Text(self.take(1))),
            }
        }
    }
}

impl<'a> Tag<'a> {
    /// The value of an attribute, with its entities as they are written.
    pub(super) fn attribute(&self, wanted: &str) -> Option<&'a str> {
        let mut rest = self.attributes;
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>' | '='));
            if rest.is_empty() {
                return None;
            }
            let end = rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '=' | '>' | '/'));
            let (key, after) = rest.split_at(end.unwrap_or(rest.len()));
            let (value, after) = value(after);
            if key.eq_ignore_ascii_case(wanted) {
                return Some(value);
            }
            rest = after;
        }
    }

    /// Whether the tag is written `<name/>`.
    pub(super) fn ends_itself(&self) -> bool {
        self.attributes.ends_with("/>")
    }

    /// Whether the tag has a class.
    pub(super) fn has_class(&self, class: &str) -> bool {
        self.attribute("class")
            .is_some_and(|classes| classes.split_ascii_whitespace().any(|one| one == class))
    }
}

/// The value of an attribute whose key has been read, and what follows it.
fn value(after_key: &str) -> (&str, &str) {
    let Some(text) = after_key.trim_ascii_start().strip_prefix('=') else { return ("", after_key) };
    let text = text.trim_ascii_start();
    for quote in ['"', '\''] {
        if let Some(quoted) = text.strip_prefix(quote) {
            return quoted.split_once(quote).unwrap_or((quoted, ""));
        }
    }
    let end = text.find(|c: char| c.is_ascii_whitespace() || c == '>');
    text.split_at(end.unwrap_or(text.len()))
}

fn name(text: &str) -> &str {
    let end = text.find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>'));
    &text[..end.unwrap_or(text.len())]
}

fn end_of(text: &str, end: &str) -> usize {
    text.find(end).map_or(text.len(), |at| at + end.len())
}

/// Where a tag ends: at the first `>` that stands in no quoted value.
fn end_of_tag(text: &str) -> usize {
    let mut quote = None;
    let mut before = b' ';
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at + 1,
            // A quote begins a value only behind `=`; elsewhere it is a part of a name.
            (None, b'"' | b'\'') if before == b'=' => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
    }
    text.len()
}
