//! HTML to text. The first pass is over the tags and linear in the length of the text. It drops what is not the
//! writer's own text, and leaves paragraphs and lists of bounded depth. Only that is parsed: a parser takes time
//! quadratic in the depth of nested elements.

use super::tags::{Tag, Token, Tokens};

/// Deeper elements lose their markup and keep their text.
const MAX_DEPTH: usize = 32;
/// More elements and line breaks than this lose their markup too: each costs a parser more than its text does.
const MAX_BLOCKS: usize = 2000;
/// Stands for a `<` that begins no tag while the text is parsed. A private character, so that none is lost by it.
const LESS_THAN: &str = "\u{e000}";
/// Wider than any line: lines are broken by the text itself only.
const WIDTH: usize = 1 << 20;

/// Elements that are dropped with what they hold.
const DROPPED: [&str; 15] = [
    "script",
    "style",
    "iframe",
    "noembed",
    "noframes",
    "noscript",
    "textarea",
    "title",
    "xmp",
    "blockquote",
    "template",
    "svg",
    "math",
    "object",
    "select",
];

/// What is written out of a piece of HTML.
#[derive(Default)]
struct Reduced<'a> {
    out: String,
    open: Vec<&'static str>,
    /// How many elements and line breaks were written.
    blocks: usize,
    /// How many elements are open beyond the bounds.
    beyond: usize,
    dropping: Option<Dropping<'a>>,
}

/// An element that is being dropped.
struct Dropping<'a> {
    name: &'a str,
    /// How many of its name are open.
    depth: usize,
    /// Whether images within still say their `alt`.
    keeps_images: bool,
}

/// The text of a piece of HTML. Lines and spaces as they come.
pub(super) fn to_text(html: &str) -> String {
    let mut reduced = Reduced::default();
    for token in Tokens::of(html) {
        match token {
            Token::Text(text) => reduced.text(text),
            Token::Open(tag) => reduced.on_open(tag),
            Token::Close(name) => reduced.on_close(name),
        }
    }
    let html = reduced.end();
    let config = html2text::config::plain_no_decorate().no_table_borders().no_link_wrapping();
    config.string_from_read(html.as_bytes(), WIDTH).unwrap_or_default().replace(LESS_THAN, "<")
}

impl<'a> Reduced<'a> {
    fn text(&mut self, text: &str) {
        if self.dropping.is_none() {
            self.write(text);
        }
    }

    /// Writes text. Entities stay as they are; a `<` that begins no tag must not begin one now.
    fn write(&mut self, text: &str) {
        self.out.push_str(&text.replace('<', LESS_THAN));
    }

    fn on_open(&mut self, tag: Tag<'a>) {
        let name = tag.name.to_ascii_lowercase();
        if let Some(dropping) = &mut self.dropping {
            dropping.depth += usize::from(tag.name.eq_ignore_ascii_case(dropping.name));
            if name == "img" && dropping.keeps_images {
                self.image(tag);
            }
            return;
        }
        match name.as_str() {
            "img" => self.image(tag),
            "br" | "hr" if self.blocks < MAX_BLOCKS => {
                self.blocks += 1;
                self.tag("<", "br");
            }
            "br" | "hr" | "td" | "th" => self.out.push(' '),
            // Foreign elements alone may end where they begin.
            "svg" | "math" if tag.ends_itself() => {}
            name if is_dropped(name, tag) => {
                let keeps_images = tag.has_class("lightbox-wrapper");
                self.dropping = Some(Dropping { name: tag.name, depth: 1, keeps_images });
            }
            name => {
                if let Some(block) = block(name) {
                    self.open(block);
                }
            }
        }
    }

    fn on_close(&mut self, name: &str) {
        if let Some(dropping) = &mut self.dropping {
            dropping.depth -= usize::from(name.eq_ignore_ascii_case(dropping.name));
            if dropping.depth == 0 {
                self.dropping = None;
            }
        } else if let Some(block) = block(&name.to_ascii_lowercase()) {
            self.close(block);
        }
    }

    fn image(&mut self, tag: Tag<'_>) {
        if let Some(alt) = tag.attribute("alt").filter(|alt| !alt.is_empty()) {
            self.out.push(' ');
            self.write(alt);
            self.out.push(' ');
        }
    }

    fn open(&mut self, block: &'static str) {
        // As in HTML, the next paragraph or item ends the one before.
        if matches!(block, "p" | "li") && self.open.last() == Some(&block) && self.beyond == 0 {
            self.close(block);
        }
        if self.open.len() == MAX_DEPTH || self.blocks == MAX_BLOCKS {
            self.beyond += 1;
            self.out.push(' ');
            return;
        }
        self.blocks += 1;
        self.open.push(block);
        self.tag("<", block);
    }

    fn close(&mut self, block: &'static str) {
        if self.beyond > 0 {
            self.beyond -= 1;
            self.out.push(' ');
            return;
        }
        let Some(at) = self.open.iter().rposition(|open| *open == block) else { return };
        for open in self.open.split_off(at).into_iter().rev() {
            self.tag("</", open);
        }
    }

    fn tag(&mut self, start: &str, name: &str) {
        self.out.push_str(start);
        self.out.push_str(name);
        self.out.push('>');
    }

    fn end(mut self) -> String {
        while let Some(open) = self.open.pop() {
            self.tag("</", open);
        }
        self.out
    }
}

/// Quotes of others, pictures that can be enlarged, and non-text elements.
fn is_dropped(name: &str, tag: Tag<'_>) -> bool {
    DROPPED.contains(&name)
        || (name == "aside" && tag.has_class("quote"))
        || tag.has_class("lightbox-wrapper")
}

/// What stands for an element that begins a line of its own.
fn block(name: &str) -> Option<&'static str> {
    Some(match name {
        "p" => "p",
        "ul" => "ul",
        "ol" => "ol",
        "li" => "li",
        "pre" => "pre",
        "address" | "article" | "aside" | "body" | "caption" | "center" | "dd" | "details" | "div" | "dl"
        | "dt" | "fieldset" | "figcaption" | "figure" | "footer" | "form" | "h1" | "h2" | "h3" | "h4"
        | "h5" | "h6" | "header" | "main" | "nav" | "section" | "summary" | "table" | "tr" => "div",
        _ => return None,
    })
}
