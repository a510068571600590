//! Markdown of an answer, drawn as its blocks become whole: tables in columns, marked words in their look, citations as
//! numbers of footnotes. What stands in it is text for a person; nothing of it steers the terminal (`console`).

mod blocks;
mod spans;

use std::fmt::Write as _;

use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use unicode_width::UnicodeWidthStr;

use self::{
    blocks::Blocks,
    spans::{span, wrap},
};
use crate::table::Table;
use toolwire_server::console::{Look, Span};

/// The longest line of prose.
const MAX_WIDTH: usize = 100;

type Line = Vec<Span>;

/// An answer that is drawn.
#[derive(Debug)]
pub(super) struct Drawing {
    width: usize,
    blocks: Blocks,
    /// The cited sources, in the order of their numbers.
    cited: Vec<String>,
    has_lines: bool,
}

impl Drawing {
    pub(super) fn new(width: Option<usize>) -> Self {
        let width = width.unwrap_or(usize::MAX);
        Self { width, blocks: Blocks::default(), cited: Vec::new(), has_lines: false }
    }

    /// The lines of the blocks that are whole with this part.
    pub(super) fn push(&mut self, text: &str) -> Vec<Line> {
        let whole = self.blocks.push(text);
        self.draw(&whole)
    }

    /// The lines of what is left.
    pub(super) fn end(&mut self) -> Vec<Line> {
        let rest = std::mem::take(&mut self.blocks).into_text();
        self.draw(&rest)
    }

    /// The number of a source's footnote.
    pub(super) fn number(&mut self, source_id: &str) -> usize {
        let known = self.cited.iter().position(|it| it == source_id);
        known.unwrap_or_else(|| {
            self.cited.push(source_id.to_owned());
            self.cited.len() - 1
        }) + 1
    }

    fn draw(&mut self, text: &str) -> Vec<Line> {
        let text = self.with_footnotes(text);
        let mut page = Page { width: self.width, needs_gap: self.has_lines, ..Page::default() };
        for event in Parser::new_ext(&text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
            page.take(event);
        }
        self.has_lines |= !page.lines.is_empty();
        page.lines
    }

    /// `[tool:quotes:v1]` as `[1]`.
    fn with_footnotes(&mut self, text: &str) -> String {
        let (mut shown, mut rest) = (String::new(), text);
        let is_of_id = |c: char| c.is_ascii_alphanumeric() || "_-.:/".contains(c);
        while let Some((before, after)) = rest.split_once("[tool:") {
            shown.push_str(before);
            let end = after.find(|c| !is_of_id(c)).unwrap_or(after.len());
            if let Some(behind) = after[end..].strip_prefix(']') {
                let number = self.number(&format!("tool:{}", &after[..end]));
                let _ = write!(shown, "[{number}]");
                rest = behind;
            } else {
                shown.push_str("[tool:");
                rest = after;
            }
        }
        shown + rest
    }
}

/// The lines of some blocks.
#[derive(Debug, Default)]
struct Page {
    width: usize,
    lines: Vec<Line>,
    /// The words of the block that is being read.
    words: Vec<Span>,
    /// The looks that surround what is read, the innermost last.
    looks: Vec<Look>,
    /// What begins the next line, and what the lines below it.
    begin: Option<String>,
    /// The next number of each surrounding list; `None` of one without.
    lists: Vec<Option<u64>>,
    quotes: usize,
    table: Vec<Vec<String>>,
    alignments: Vec<Alignment>,
    is_code: bool,
    needs_gap: bool,
    /// The targets of the links around what is read, the innermost last, and how many words stand before each.
    links: Vec<(String, usize)>,
}

impl Page {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.is_code => {
                let lines = text.lines().map(|line| vec![span(format!("    {line}"), Look::Code)]);
                self.lines.extend(lines);
            }
            Event::Text(text) | Event::InlineHtml(text) => self.add(&text, Look::Plain),
            Event::Html(text) => {
                for line in text.lines() {
                    self.add(line, Look::Plain);
                    self.flush();
                }
            }
            Event::Code(text) => self.add(&text, Look::Code),
            Event::SoftBreak => self.add(" ", Look::Plain),
            Event::HardBreak => self.flush(),
            Event::Rule => {
                self.gap();
                self.lines.push(vec![span("─".repeat(self.width.min(MAX_WIDTH) / 2), Look::Dim)]);
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.gap();
                self.looks.push(if level <= HeadingLevel::H3 { Look::Strong } else { Look::Emphasis });
            }
            Tag::Paragraph if self.begin.is_none() => self.gap(),
            Tag::HtmlBlock => self.gap(),
            Tag::BlockQuote(_) => {
                self.gap();
                self.needs_gap = false;
                self.quotes += 1;
            }
            Tag::CodeBlock(kind) => self.start_code(&kind),
            Tag::List(first) => {
                if self.lists.is_empty() {
                    self.gap();
                } else {
                    // The text of the item that the list is in.
                    self.flush();
                }
                self.lists.push(first);
            }
            Tag::Item => self.begin = Some(self.marker()),
            Tag::Table(alignments) => {
                self.gap();
                self.alignments = alignments;
            }
            Tag::TableHead | Tag::TableRow => self.table.push(Vec::new()),
            Tag::Emphasis => self.looks.push(Look::Emphasis),
            Tag::Strong => self.looks.push(Look::Strong),
            Tag::Strikethrough => self.looks.push(Look::Dim),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.links.push((dest_url.into_string(), self.words.len()));
            }
            _ => {}
        }
    }

    fn start_code(&mut self, kind: &CodeBlockKind<'_>) {
        self.gap();
        self.is_code = true;
        if let CodeBlockKind::Fenced(language) = kind
            && !language.is_empty()
        {
            self.lines.push(vec![span(format!("    {language}"), Look::Dim)]);
        }
    }

    /// What begins the next item of the innermost list.
    fn marker(&mut self) -> String {
        let indent = "  ".repeat(self.lists.len().saturating_sub(1));
        match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{indent}{}. ", *number - 1)
            }
            _ => indent + "• ",
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.flush();
                self.looks.pop();
            }
            TagEnd::Paragraph => self.flush(),
            TagEnd::Item => {
                self.flush();
                self.begin = None;
            }
            TagEnd::BlockQuote(_) => self.quotes -= 1,
            TagEnd::CodeBlock => self.is_code = false,
            TagEnd::List(_) => {
                self.lists.pop();
                // The rest of the item that the list is in.
                self.begin = (!self.lists.is_empty()).then(|| "  ".repeat(self.lists.len()));
            }
            TagEnd::TableCell => {
                let cell: String = self.words.drain(..).map(|it| it.text).collect();
                if let Some(row) = self.table.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Table => self.draw_table(),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => drop(self.looks.pop()),
            TagEnd::Link | TagEnd::Image => {
                let Some((url, before)) = self.links.pop() else { return };
                // A line break within a link has taken the words before it.
                let words = self.words.get(before..).unwrap_or(&self.words);
                let text: String = words.iter().map(|it| it.text.as_str()).collect();
                if !text.ends_with(&url) {
                    self.add(&format!(" ({url})"), Look::Dim);
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, text: &str, look: Look) {
        let look = if look == Look::Plain { self.looks.last().copied().unwrap_or_default() } else { look };
        self.words.push(span(text.to_owned(), look));
    }

    /// Ends the text of an item that a block stands below, and sets an empty line between two blocks.
    fn gap(&mut self) {
        self.flush();
        if std::mem::replace(&mut self.needs_gap, true) {
            self.lines.push(Vec::new());
        }
    }

    /// The words that were read, as lines.
    fn flush(&mut self) {
        let words = std::mem::take(&mut self.words);
        if words.is_empty() {
            return;
        }
        let quote = "│ ".repeat(self.quotes);
        let begin = quote.clone() + self.begin.as_deref().unwrap_or_default();
        let rest = quote + &" ".repeat(self.begin.as_deref().map_or(0, UnicodeWidthStr::width));
        self.lines.extend(wrap(&words, self.width.min(MAX_WIDTH), &begin, &rest));
        // Another paragraph of the item stands below its first.
        self.begin = self.begin.take().map(|begin| " ".repeat(begin.width()));
    }

    fn draw_table(&mut self) {
        let rows = std::mem::take(&mut self.table);
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        let right = self.alignments.iter().enumerate().filter(|(_, it)| **it == Alignment::Right);
        let numbers = right.map(|(column, _)| column).collect();
        let width = (self.width != usize::MAX).then_some(self.width);
        let (_, mut blocks) = Table::of(columns, rows).with_numbers(numbers).blocks("", width);
        let heading = if blocks.is_empty() { Vec::new() } else { blocks.remove(0) };
        self.lines.extend(heading.into_iter().map(|line| vec![span(line, Look::Strong)]));
        self.lines.extend(blocks.concat().into_iter().map(|line| vec![span(line, Look::Plain)]));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(lines: &[Line]) -> String {
        let line = |line: &Line| line.iter().map(|it| it.text.as_str()).collect::<String>() + "\n";
        lines.iter().map(line).collect()
    }

    fn drawn(markdown: &str, width: usize) -> String {
        let mut drawing = Drawing::new(Some(width));
        let mut lines = drawing.push(markdown);
        lines.extend(drawing.end());
        text(&lines)
    }

    #[test]
    fn tables_are_columns_and_citations_are_numbers() {
        let markdown = "Kiosks have 2 **positions** [tool:list:v1]:\n\n| Symbol | Name | Cost |\n|---|---|---:|\n\
                        | AAPL |  | $6,310.50 |\n| BND | Vanguard Total | $17,920.00 |\n\nSource: [tool:list:v1], \
                        [tool:other:v1].\n";
        let expected = "\
Kiosks have 2 positions [1]:

Symbol  Name                  Cost
AAPL                     $6,310.50
BND     Vanguard Total  $17,920.00

Source: [1], [2].
";
        assert_eq!(drawn(markdown, 80), expected);
    }

    #[test]
    fn each_block_has_its_form() {
        let markdown = "# Title\nSome *words* and `code` of a [page](https://a.example).\n\n- one\n  - two\n- three\n\n\
                        3. third\n4. fourth\n\n> said\n\n```sh\nls\n\npwd\n```\n\n---\n[tool:x or not\n";
        let expected = "\
Title

Some words and code of a page
(https://a.example).

• one
  • two
• three

3. third
4. fourth

│ said

    sh
    ls
    \n    pwd

────────────────

[tool:x or not
";
        assert_eq!(drawn(markdown, 32), expected);
    }

    #[test]
    fn what_stands_within_a_block_stays_in_its_place() {
        for (markdown, expected) in [
            ("- one\n  ```\n  ls\n  ```\n- two", "• one\n\n    ls\n• two\n"),
            ("- one\n\n    - two\n\n  three", "• one\n  • two\n  three\n"),
            ("one\n\n<details>\n<b>two</b>\n</details>\n", "one\n\n<details>\n<b>two</b>\n</details>\n"),
            ("~~~\none\n\n- two\n~~~\nthree", "    one\n    \n    - two\n\nthree\n"),
            ("[![one](two)](three) four", "one (two) (three) four\n"),
            ("[tool:one", "[tool:one\n"),
        ] {
            assert_eq!(drawn(markdown, 60), expected);
        }
    }

    #[test]
    fn marked_words_have_their_look() {
        let mut drawing = Drawing::new(None);
        drawing.push("**AAPL** is *up*, `x`");
        let [line] = &drawing.end()[..] else { panic!("one line") };
        let looks: Vec<_> = line.iter().filter(|it| !it.text.trim().is_empty()).map(|it| it.look).collect();
        assert_eq!(looks, [Look::Strong, Look::Plain, Look::Emphasis, Look::Plain, Look::Code]);
    }

    #[test]
    fn a_block_is_drawn_once_it_is_whole() {
        let mut drawing = Drawing::new(Some(80));
        assert!(drawing.push("| a |\n|---|\n").is_empty());
        assert!(drawing.push("| 1 |\n").is_empty());
        assert_eq!(text(&drawing.push("\nafter")), "a\n1\n");
        assert_eq!(text(&drawing.end()), "\nafter\n");
        assert!(drawing.push("```\na\n\nb\n").is_empty(), "a blank line within code ends nothing");
    }

    proptest! {
        #[test]
        fn whatever_the_parts_and_the_width_no_word_is_lost(
            words in prop::collection::vec("[a-z]{1,12}", 1..40),
            cuts in prop::collection::vec(0_usize..200, 0..6),
            width in 20_usize..120,
        ) {
            let markdown = words.chunks(7).map(|chunk| chunk.join(" ")).collect::<Vec<_>>().join("\n\n");
            let mut drawing = Drawing::new(Some(width));
            let (mut lines, mut from) = (Vec::new(), 0);
            let mut cuts: Vec<_> = cuts.into_iter().filter(|cut| *cut < markdown.len()).collect();
            cuts.sort_unstable();
            for cut in cuts {
                lines.extend(drawing.push(&markdown[from..cut]));
                from = cut;
            }
            lines.extend(drawing.push(&markdown[from..]));
            lines.extend(drawing.end());
            let shown = text(&lines);
            prop_assert_eq!(shown.split_whitespace().collect::<Vec<_>>(), words.iter().map(String::as_str).collect::<Vec<_>>());
            prop_assert!(shown.lines().all(|line| line.width() <= width));
        }
    }
}
