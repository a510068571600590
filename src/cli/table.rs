//! Columns of text, each as wide as its widest cell. On a terminal a table fits the width. Identifiers are shortened to
//! prefixes that differ, dispensable columns are left out, the last column is wrapped, and others are cut.

use std::collections::BTreeSet;

use unicode_width::UnicodeWidthStr;

use toolwire_server::console::{self, Failure};

/// The space between two columns.
const GAP: usize = 2;
/// The last column is wrapped, and others are cut, to no less than this.
const MIN_LAST: usize = 24;
const MIN_CUT: usize = 8;
/// A column is left out rather than that others are cut to less than this.
const MIN_COMFORTABLE: usize = 12;
/// The shortest prefix of an identifier: of one that begins with a time, all of its milliseconds.
const MIN_ID: usize = 13;

/// Rows of N columns.
#[derive(Clone, Debug)]
pub(super) struct Table<const N: usize> {
    heading: Option<[String; N]>,
    rows: Vec<[String; N]>,
    /// The column of identifiers.
    ids: Option<usize>,
    /// The columns that a narrow terminal does without, the first of them first.
    dispensable: &'static [usize],
}

impl<const N: usize> Table<N> {
    pub(super) fn new(rows: impl IntoIterator<Item = [String; N]>) -> Self {
        Self { heading: None, rows: rows.into_iter().collect(), ids: None, dispensable: &[] }
    }

    pub(super) fn with_heading(self, heading: [&str; N]) -> Self {
        Self { heading: Some(heading.map(ToOwned::to_owned)), ..self }
    }

    /// The column of identifiers, which commands take by any prefix that is unique.
    pub(super) fn with_ids(self, column: usize) -> Self {
        Self { ids: Some(column), ..self }
    }

    /// The columns that are left out where there is no room for them, the first of them first; never the last column.
    pub(super) fn with_dispensable(self, columns: &'static [usize]) -> Self {
        Self { dispensable: columns, ..self }
    }

    pub(super) fn print(self) -> Result<(), Failure> {
        let has_heading = self.heading.is_some();
        let text = self.render("", console::width());
        match text.split_once('\n') {
            Some((heading, rest)) if has_heading => {
                console::heading(heading)?;
                console::print(rest)
            }
            _ => console::print(&text),
        }
    }

    /// The table as lines after an indentation, none of them wider than `width` where that can be.
    pub(super) fn render(mut self, indent: &str, width: Option<usize>) -> String {
        let room = width.map_or(usize::MAX, |width| width.saturating_sub(indent.len()));
        if total(self.widths()) > room {
            self.shorten_ids();
        }
        let widths = self.fit(room, &self.visible_columns(room));
        let rows = self.heading.iter().chain(&self.rows);
        let lines = rows.flat_map(|row| lines(row, &widths));
        lines.flat_map(|line| [indent.to_owned(), line, "\n".to_owned()]).collect()
    }

    fn widths(&self) -> [usize; N] {
        let rows = || self.heading.iter().chain(&self.rows);
        std::array::from_fn(|column| rows().map(|row| row[column].width()).max().unwrap_or_default())
    }

    /// The columns that are shown in this room.
    fn visible_columns(&self, room: usize) -> [bool; N] {
        let (widths, mut shown) = (self.widths(), [true; N]);
        let least = |column: usize| match column {
            _ if column == N - 1 => widths[column].min(MIN_LAST),
            _ if Some(column) == self.ids => widths[column],
            _ => widths[column].min(MIN_COMFORTABLE),
        };
        for column in self.dispensable {
            if total((0..N).filter(|column| shown[*column]).map(least)) <= room {
                break;
            }
            shown[*column] = false;
        }
        shown
    }

    /// The widths of the shown columns in this room: what the last one lacks, the widest of the others give, but
    /// identifiers.
    fn fit(&self, room: usize, shown: &[bool; N]) -> [Option<usize>; N] {
        let mut widths = self.widths();
        let sum =
            |widths: &[usize; N]| total((0..N).filter(|column| shown[*column]).map(|column| widths[column]));
        let (last, floor) = (N - 1, widths[N - 1].min(MIN_LAST));
        while sum(&widths) - widths[last] + floor > room {
            let others = (0..last)
                .filter(|column| shown[*column] && Some(*column) != self.ids && widths[*column] > MIN_CUT);
            let Some(widest) = others.max_by_key(|column| widths[*column]) else { break };
            widths[widest] -= 1;
        }
        let others = sum(&widths) - widths[last];
        widths[last] = widths[last].min(room.saturating_sub(others).max(floor));
        std::array::from_fn(|column| shown[column].then_some(widths[column]))
    }

    fn shorten_ids(&mut self) {
        let Some(column) = self.ids else { return };
        let ids = || self.rows.iter().map(|row| row[column].trim_start());
        let distinct = |length| ids().map(|id| prefix(id, length)).collect::<BTreeSet<_>>().len();
        let longest = ids().map(str::len).max().unwrap_or_default();
        let all = distinct(longest);
        let length = (MIN_ID..longest).find(|length| distinct(*length) == all).unwrap_or(longest);
        for row in &mut self.rows {
            let indent = row[column].len() - row[column].trim_start().len();
            row[column].truncate(prefix(&row[column], indent + length).len());
        }
    }
}

fn prefix(text: &str, length: usize) -> &str {
    text.char_indices().nth(length).map_or(text, |(end, _)| &text[..end])
}

/// The width of columns with the gaps between them.
fn total(widths: impl IntoIterator<Item = usize>) -> usize {
    widths.into_iter().map(|width| width + GAP).sum::<usize>().saturating_sub(GAP)
}

/// A row as lines: the last cell is wrapped, others are cut, and no line ends with a space.
fn lines<const N: usize>(row: &[String; N], widths: &[Option<usize>; N]) -> Vec<String> {
    let mut before = String::new();
    for (cell, width) in row.iter().zip(widths).take(N - 1) {
        let Some(width) = width else { continue };
        let cell = cut(cell, *width);
        let spaces = width.saturating_sub(cell.width()) + GAP;
        before.push_str(&cell);
        before.extend(std::iter::repeat_n(' ', spaces));
    }
    let blank = " ".repeat(before.width());
    let starts = std::iter::once(before.as_str()).chain(std::iter::repeat(blank.as_str()));
    let wrapped = wrap(&row[N - 1], widths[N - 1].unwrap_or_default());
    starts.zip(wrapped).map(|(start, part)| format!("{start}{part}").trim_end().to_owned()).collect()
}

fn cut(cell: &str, width: usize) -> String {
    if cell.width() <= width {
        return cell.to_owned();
    }
    let mut shown = String::new();
    for c in cell.chars() {
        if shown.width() + c.to_string().width() + 1 > width {
            break;
        }
        shown.push(c);
    }
    shown + "…"
}

/// The lines of a text, broken at spaces; a word that is longer than a line is broken too.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ').flat_map(|word| pieces(word, width)) {
        let line = lines.last_mut().expect("one from the beginning");
        if !line.is_empty() && line.width() + 1 + word.width() > width {
            lines.push(word.to_owned());
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines
}

/// The parts of a word that are no wider than a line.
fn pieces(word: &str, width: usize) -> Vec<&str> {
    let (mut pieces, mut begin) = (Vec::new(), 0);
    for (at, c) in word.char_indices() {
        if at > begin && word[begin..at + c.len_utf8()].width() > width {
            pieces.push(&word[begin..at]);
            begin = at;
        }
    }
    pieces.push(&word[begin..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table<const N: usize>(rows: &[[&str; N]]) -> Table<N> {
        Table::new(rows.iter().map(|row| row.map(ToOwned::to_owned)))
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        assert_eq!(table(&[["a", "x"], ["long", ""]]).render(" ", None), " a     x\n long\n");
        assert_eq!(table(&[["日本", "x"], ["abc", "y"]]).render("", None), "日本  x\nabc   y\n");
    }

    #[test]
    fn what_does_not_fit_is_wrapped_in_the_last_column() {
        let rows = [["name", "string", "one two three four five six seven"]];
        let expected = "\
name  string  one two three four five
              six seven
";
        assert_eq!(table(&rows).render("", Some(38)), expected);
        assert_eq!(table(&rows).render("", Some(80)).lines().count(), 1);
    }

    #[test]
    fn a_word_that_is_longer_than_a_line_is_broken() {
        assert_eq!(wrap("at abcdefghij end", 5), ["at", "abcde", "fghij", "end"]);
        assert_eq!(wrap("日本語", 4), ["日本", "語"]);
        assert_eq!(wrap("", 4), [""]);
    }

    #[test]
    fn a_narrow_terminal_does_without_what_a_reader_can_do_without() {
        let row = [
            "01a21959-8b2f-7aaa-8000-000000000000",
            "list_open_documents",
            "demo",
            "failed: RATE_LIMITED",
            "2026-11-27T23:41:20.123456Z",
            "1204 ms",
        ];
        let heading = ["CALL", "TOOL", "USER", "STATE", "CAME", "TOOK"];
        let at = |width| {
            let table = table(&[row]).with_heading(heading).with_ids(0).with_dispensable(&[2, 4]);
            table.render("", Some(width))
        };
        for (width, came, user) in
            [(120, true, true), (80, true, true), (66, true, false), (60, false, false)]
        {
            let shown = at(width);
            assert!(shown.lines().all(|line| line.width() <= width), "{width}: {shown}");
            assert_eq!((shown.contains("CAME"), shown.contains("USER")), (came, user), "{width}: {shown}");
        }
        assert!(at(60).contains("1204 ms"), "{}", at(60));
    }

    #[test]
    fn identifiers_are_shortened_until_two_would_be_one() {
        let rows = [
            ["01a21959-8b2f-7aaa-8000-000000000000", "the first of two calls"],
            ["01a21959-8b2f-7abb-8000-000000000000", "the second of two calls"],
        ];
        let shown = table(&rows).with_heading(["CALL", "WHAT"]).with_ids(0).render("", Some(46));
        let expected = "\
CALL               WHAT
01a21959-8b2f-7aa  the first of two calls
01a21959-8b2f-7ab  the second of two calls
";
        assert_eq!(shown, expected);
    }

    #[test]
    fn other_columns_are_cut_where_the_last_one_has_too_little() {
        let rows = [["id", "a very long state of things", "words that are wrapped and wrapped"]];
        let expected = "\
id  a very long …  words that are wrapped
                   and wrapped
";
        assert_eq!(table(&rows).with_ids(0).render("", Some(43)), expected);
    }
}
