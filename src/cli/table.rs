//! Columns of text, each as wide as its widest cell. On a terminal a table fits its width: identifiers are shortened to
//! prefixes that differ, the last column is wrapped, and others are cut.

use std::collections::BTreeSet;

use unicode_width::UnicodeWidthStr;

use toolwire_server::console::{self, Failure};

/// The space between two columns.
const GAP: usize = 2;
/// The last column is wrapped, and others are cut, to no less than this.
const MIN_LAST: usize = 24;
const MIN_CUT: usize = 8;
/// The shortest prefix of an identifier: of one that begins with a time, all of its milliseconds.
const MIN_ID: usize = 13;

/// Rows of N columns.
#[derive(Clone, Debug)]
pub(super) struct Table<const N: usize> {
    heading: Option<[String; N]>,
    rows: Vec<[String; N]>,
    /// The column of identifiers.
    ids: Option<usize>,
}

impl<const N: usize> Table<N> {
    pub(super) fn new(rows: impl IntoIterator<Item = [String; N]>) -> Self {
        Self { heading: None, rows: rows.into_iter().collect(), ids: None }
    }

    pub(super) fn with_heading(self, heading: [&str; N]) -> Self {
        Self { heading: Some(heading.map(ToOwned::to_owned)), ..self }
    }

    /// The column of identifiers, which commands take by any prefix that is unique.
    pub(super) fn with_ids(self, column: usize) -> Self {
        Self { ids: Some(column), ..self }
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
        if total(&self.widths()) > room {
            self.shorten_ids();
        }
        let widths = self.fit(room);
        let rows = self.heading.iter().chain(&self.rows);
        let lines = rows.flat_map(|row| lines(row, &widths));
        lines.flat_map(|line| [indent.to_owned(), line, "\n".to_owned()]).collect()
    }

    fn widths(&self) -> [usize; N] {
        let rows = || self.heading.iter().chain(&self.rows);
        std::array::from_fn(|column| rows().map(|row| row[column].width()).max().unwrap_or_default())
    }

    /// The widths of the columns in this room: what the last one lacks, the widest of the others give, but identifiers.
    fn fit(&self, room: usize) -> [usize; N] {
        let mut widths = self.widths();
        let (last, floor) = (N - 1, widths[N - 1].min(MIN_LAST));
        while total(&widths) - widths[last] + floor > room {
            let others = (0..last).filter(|column| Some(*column) != self.ids && widths[*column] > MIN_CUT);
            let Some(widest) = others.max_by_key(|column| widths[*column]) else { break };
            widths[widest] -= 1;
        }
        let others = total(&widths) - widths[last];
        widths[last] = widths[last].min(room.saturating_sub(others).max(floor));
        widths
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

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// A row as lines: the last cell is wrapped, others are cut, and no line ends with a space.
fn lines<const N: usize>(row: &[String; N], widths: &[usize; N]) -> Vec<String> {
    let mut before = String::new();
    for (cell, width) in row.iter().zip(widths).take(N - 1) {
        let cell = cut(cell, *width);
        let spaces = width.saturating_sub(cell.width()) + GAP;
        before.push_str(&cell);
        before.extend(std::iter::repeat_n(' ', spaces));
    }
    let blank = " ".repeat(before.width());
    let starts = std::iter::once(before.as_str()).chain(std::iter::repeat(blank.as_str()));
    let wrapped = wrap(&row[N - 1], widths[N - 1]);
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

/// The lines of a text, broken at spaces; a word that is longer than a line stands alone on one.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
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
