//! Columns of text, each as wide as its widest cell. On a terminal a table fits the width: identifiers are shortened to
//! prefixes that differ, instants to hours or dates, dispensable columns are left out, and other cells are wrapped
//! between words. Where not even that has room, each row is a paragraph.

mod short;

use std::time::SystemTime;

use unicode_width::UnicodeWidthStr;

use toolwire_base::clock;
use toolwire_server::console::{self, Failure};

/// The space between two columns.
const GAP: usize = 2;
/// A column is left out rather than that the last one has less than this, and others.
const MIN_LAST: usize = 24;
const MIN_COMFORTABLE: usize = 12;
/// The shortest prefix of an identifier: of one that begins with a time, all of its milliseconds.
const MIN_ID: usize = 13;
/// The most characters of a line, per column of its width: those without a width have an end too.
const MOST_PER_COLUMN: usize = 8;
/// The indentation of the lines of a paragraph below its first.
const HANGING: &str = "  ";

/// Rows of as many cells each.
#[derive(Clone, Debug)]
pub(super) struct Table {
    columns: usize,
    heading: Option<Vec<String>>,
    rows: Vec<Vec<String>>,
    /// The column of identifiers.
    ids: Option<usize>,
    /// The columns whose words are instants and identifiers of others.
    short: &'static [usize],
    /// The columns of numbers.
    numbers: Vec<usize>,
    /// The columns that a narrow terminal does without, the first of them first.
    dispensable: &'static [usize],
    now: SystemTime,
}

impl Table {
    pub(super) fn new<const N: usize>(rows: impl IntoIterator<Item = [String; N]>) -> Self {
        Self::of(N, rows.into_iter().map(Vec::from).collect())
    }

    /// Rows with this number of cells; of others cells are left out, or empty.
    pub(super) fn of(columns: usize, mut rows: Vec<Vec<String>>) -> Self {
        for row in &mut rows {
            row.resize(columns, String::new());
        }
        Self {
            columns,
            heading: None,
            rows,
            ids: None,
            short: &[],
            numbers: Vec::new(),
            dispensable: &[],
            now: clock::wall(),
        }
    }

    pub(super) fn with_heading<const N: usize>(self, heading: [&str; N]) -> Self {
        let mut heading = Vec::from(heading.map(ToOwned::to_owned));
        heading.resize(self.columns, String::new());
        Self { heading: Some(heading), ..self }
    }

    /// The column of identifiers, which commands take by any prefix that is unique.
    pub(super) fn with_ids(self, column: usize) -> Self {
        Self { ids: Some(column), ..self }
    }

    /// The columns whose instants and identifiers are written short where there is no room for them.
    pub(super) fn with_short(self, columns: &'static [usize]) -> Self {
        Self { short: columns, ..self }
    }

    /// The columns that are aligned at the right.
    pub(super) fn with_numbers(self, columns: Vec<usize>) -> Self {
        Self { numbers: columns, ..self }
    }

    /// The columns that are left out where there is no room for them, the first of them first.
    pub(super) fn with_dispensable(self, columns: &'static [usize]) -> Self {
        Self { dispensable: columns, ..self }
    }

    pub(super) fn print(self) -> Result<(), Failure> {
        let (heading, rows) = self.lines("", console::width());
        for line in heading {
            console::heading(&line)?;
        }
        console::print(&rows.join("\n"))
    }

    /// The table as lines after an indentation, none of them wider than `width` but for a word that is.
    pub(super) fn render(self, indent: &str, width: Option<usize>) -> String {
        let (heading, rows) = self.lines(indent, width);
        heading.into_iter().chain(rows).flat_map(|line| [line, "\n".to_owned()]).collect()
    }

    /// The lines of the heading, and those of the rows.
    pub(super) fn lines(self, indent: &str, width: Option<usize>) -> (Vec<String>, Vec<String>) {
        let (heading, rows) = self.blocks(indent, width);
        (heading, rows.concat())
    }

    /// The lines of the heading, and those of each row.
    pub(super) fn blocks(mut self, indent: &str, width: Option<usize>) -> (Vec<String>, Vec<Vec<String>>) {
        let room = width.map_or(usize::MAX, |width| width.saturating_sub(indent.len()));
        if total(self.widths()) > room {
            self.shorten();
        }
        let shown = self.visible_columns(room);
        let widths = self.fit(room, &shown);
        let lines = |row: &Vec<String>| match &widths {
            Some(widths) => self.row(row, widths),
            None => paragraph(row, &shown, room),
        };
        let indented = |row: &Vec<String>| -> Vec<String> {
            lines(row).into_iter().map(|line| format!("{indent}{line}")).collect()
        };
        let heading = self.heading.as_ref().map(&indented).unwrap_or_default();
        (heading, self.rows.iter().map(indented).collect())
    }

    fn cells(&self, column: usize) -> impl Iterator<Item = &str> {
        self.heading.iter().chain(&self.rows).map(move |row| &*row[column])
    }

    fn widths(&self) -> Vec<usize> {
        let width = |column| self.cells(column).map(UnicodeWidthStr::width).max().unwrap_or_default();
        (0..self.columns).map(width).collect()
    }

    /// The widths of the columns' longest words. One that is longer than two thirds of a line may be broken.
    fn longest_words(&self, room: usize) -> Vec<usize> {
        let longest = |column| self.cells(column).flat_map(words).map(UnicodeWidthStr::width);
        (0..self.columns).map(|column| longest(column).max().unwrap_or_default().min(room / 3 * 2)).collect()
    }

    /// The columns that are shown in this room.
    fn visible_columns(&self, room: usize) -> Vec<bool> {
        let columns = self.columns;
        let (widths, words, mut shown) = (self.widths(), self.longest_words(room), vec![true; columns]);
        let least = |column: usize| {
            let comfortable = if column + 1 == columns { MIN_LAST } else { MIN_COMFORTABLE };
            words[column].max(widths[column].min(comfortable))
        };
        for column in self.dispensable {
            if total((0..columns).filter(|column| shown[*column]).map(least)) <= room {
                break;
            }
            shown[*column] = false;
        }
        shown
    }

    /// The widths of the shown columns in this room: what is lacking, the widest give, down to their longest words.
    /// `None` if that is not enough.
    fn fit(&self, room: usize, shown: &[bool]) -> Option<Vec<Option<usize>>> {
        let (mut widths, words) = (self.widths(), self.longest_words(room));
        let visible = || (0..self.columns).filter(|column| shown[*column]);
        while total(visible().map(|column| widths[column])) > room {
            let wider = visible().filter(|column| widths[*column] > words[*column]);
            let widest = wider.max_by_key(|column| widths[*column])?;
            widths[widest] -= 1;
        }
        Some((0..self.columns).map(|column| shown[column].then_some(widths[column])).collect())
    }

    /// A row as lines, none of which ends with a space.
    fn row(&self, row: &[String], widths: &[Option<usize>]) -> Vec<String> {
        let shown = (0..self.columns).filter_map(|column| Some((column, widths[column]?)));
        let cells: Vec<_> = shown.map(|(column, width)| (column, width, wrap(&row[column], width))).collect();
        let height = cells.iter().map(|(_, _, lines)| lines.len()).max().unwrap_or_default();
        let line = |at: usize| {
            let mut text = String::new();
            for (column, width, lines) in &cells {
                let part = lines.get(at).map_or("", String::as_str);
                let spaces = " ".repeat(width.saturating_sub(part.width()));
                let is_number = self.numbers.contains(column);
                text += &if is_number { spaces + part } else { part.to_owned() + &spaces };
                text += &" ".repeat(GAP);
            }
            text.trim_end().to_owned()
        };
        (0..height).map(line).collect()
    }

    fn shorten(&mut self) {
        self.shorten_ids();
        let now = self.now;
        for row in &mut self.rows {
            for column in self.short {
                row[*column] = short::words(&row[*column], now, MIN_ID);
            }
        }
    }

    fn shorten_ids(&mut self) {
        let Some(column) = self.ids else { return };
        let mut ids: Vec<_> = self.rows.iter().map(|row| row[column].trim_start()).collect();
        ids.sort_unstable();
        ids.dedup();
        // Two that are not neighbors have no more in common than those between them.
        let distinct = ids.windows(2).map(|pair| common(pair[0], pair[1]) + 1).max();
        let length = distinct.unwrap_or_default().max(MIN_ID);
        for row in &mut self.rows {
            let indent = row[column].len() - row[column].trim_start().len();
            let end = prefix(&row[column], indent + length).len();
            row[column].truncate(end);
        }
    }
}

fn prefix(text: &str, length: usize) -> &str {
    text.char_indices().nth(length).map_or(text, |(end, _)| &text[..end])
}

/// The length of the prefix that two texts have in common, in characters.
fn common(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count()
}

/// The width of columns with the gaps between them.
fn total(widths: impl IntoIterator<Item = usize>) -> usize {
    widths.into_iter().map(|width| width + GAP).sum::<usize>().saturating_sub(GAP)
}

/// A row whose columns have no room beside each other, as lines of which those after the first are indented.
fn paragraph(row: &[String], shown: &[bool], room: usize) -> Vec<String> {
    let cells = row.iter().zip(shown).filter(|(cell, shown)| **shown && !cell.is_empty());
    let cells: Vec<_> = cells.map(|(cell, _)| cell.trim()).collect();
    let lines = wrap(&cells.join("  "), room.saturating_sub(HANGING.len())).into_iter();
    let indented =
        |(at, line): (usize, String)| format!("{}{}", if at > 0 { HANGING } else { "" }, line.trim());
    lines.enumerate().map(indented).collect()
}

/// The lines of a text, broken at spaces; a word that is longer than a line is broken too, at a mark if it has one.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words(text).flat_map(|word| pieces(word, width)) {
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

/// The words of a text; the spaces before it belong to its first.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let indent = text.len() - text.trim_start_matches(' ').len();
    let first = text[indent..].find(' ').map_or(text.len(), |at| indent + at);
    std::iter::once(&text[..first]).chain(text[first..].split(' ').skip(1))
}

/// The parts of a word that are no wider than a line, and end at a mark where there is one in their second half.
fn pieces(word: &str, width: usize) -> Vec<&str> {
    let (mut pieces, mut rest) = (Vec::new(), word);
    // No text is wider than its bytes. The width of the whole rest is not asked for: it would be once a line.
    while rest.len() > width {
        let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8());
        let ends = ends.take(width.saturating_mul(MOST_PER_COLUMN));
        let end = ends.take_while(|end| rest[..*end].width() <= width).last();
        let Some(end) = end.filter(|end| *end < rest.len()) else { break };
        let mark = rest[..end].rfind(|c: char| c.is_ascii_punctuation()).map(|at| at + 1);
        let end = mark.filter(|mark| *mark > end / 2).unwrap_or(end);
        pieces.push(&rest[..end]);
        rest = &rest[end..];
    }
    pieces.push(rest);
    pieces
}

/// A text of at most this many characters. Of a longer one the words that have room, and `…` behind them; a word that
/// has half of the room is cut.
pub(super) fn shorten(text: &str, characters: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(characters) else { return text.to_owned() };
    let whole = text[..end].rfind(' ').filter(|at| *at > end / 2 && !text[end..].starts_with(' '));
    let kept = &text[..whole.unwrap_or(end)];
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests;
