//! A table in memory: the text of all cells in one piece, and where each ends.

use std::borrow::Cow;

use super::{
    bounds::{MAX_CELLS, MAX_ROWS},
    error::AskError,
    value::{self, Kind, Value},
};
use toolwire_base::words::counted;

/// The deadline is checked after this many rows.
const ROWS_A_LOOK: usize = 1_024;

/// Ends what takes too long.
pub(super) struct Watch<'a>(&'a dyn Fn() -> bool);

impl<'a> Watch<'a> {
    pub(super) fn new(is_late: &'a dyn Fn() -> bool) -> Self {
        Self(is_late)
    }

    /// Looks at the time, now and then.
    pub(super) fn check(&self, row: usize) -> Result<(), AskError> {
        if row.is_multiple_of(ROWS_A_LOOK) && (self.0)() { Err(AskError::Late) } else { Ok(()) }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// Rows of cells. What a row lacks is nothing, as an empty cell is.
#[derive(Debug, Default)]
pub(super) struct Table {
    columns: Vec<Column>,
    text: String,
    /// Where each cell ends in the text.
    ends: Vec<u32>,
    /// The first cell of each row.
    rows: Vec<u32>,
    /// Rows with fewer or more cells than there are columns.
    ragged: u64,
}

impl Table {
    pub(super) fn columns(&self) -> &[Column] {
        &self.columns
    }

    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// What is odd about it.
    pub(super) fn warning(&self) -> Option<String> {
        let rows = counted(self.ragged, "row has", "rows have");
        let text = format!(
            "{rows} fewer or more cells than there are columns: missing ones are empty, others left out"
        );
        (self.ragged > 0).then_some(text)
    }

    pub(super) fn values(&self, row: usize) -> impl Iterator<Item = Value<'_>> {
        (0..self.columns.len()).map(move |column| self.value(row, column))
    }

    pub(super) fn value(&self, row: usize, column: usize) -> Value<'_> {
        let text = self.cell(row, column);
        // The kind was chosen so that every cell is of it.
        self.columns[column].kind.read(Cow::Borrowed(text)).unwrap_or(Value::Null)
    }

    pub(super) fn cell(&self, row: usize, column: usize) -> &str {
        let (first, after) = (self.rows[row] as usize, self.first_of(row + 1));
        let cell = first + column;
        if cell >= after {
            return "";
        }
        let begin = if cell == 0 { 0 } else { self.ends[cell - 1] as usize };
        self.text[begin..self.ends[cell] as usize].trim()
    }

    fn first_of(&self, row: usize) -> usize {
        self.rows.get(row).map_or(self.ends.len(), |first| *first as usize)
    }

    /// The number of a column, made where it is new.
    pub(super) fn add_column(&mut self, name: String) -> usize {
        self.columns.push(Column { name, kind: Kind::Text });
        self.columns.len() - 1
    }

    pub(super) fn begin_row(&mut self) -> Result<(), AskError> {
        if self.rows.len() == MAX_ROWS {
            return Err(AskError::TooMany);
        }
        self.rows.push(offset(self.ends.len())?);
        Ok(())
    }

    pub(super) fn push_cell(&mut self, text: &str) -> Result<(), AskError> {
        if self.ends.len() == MAX_CELLS {
            return Err(AskError::TooMany);
        }
        self.text.push_str(text);
        self.ends.push(offset(self.text.len())?);
        Ok(())
    }

    pub(super) fn count_ragged(&mut self) {
        self.ragged += 1;
    }

    /// Chooses the kind of each column by its cells: what all of them are.
    pub(super) fn find_kinds(&mut self, watch: &Watch<'_>) -> Result<(), AskError> {
        let mut found = vec![ColumnStats::default(); self.columns.len()];
        for row in 0..self.rows.len() {
            watch.check(row)?;
            for (column, found) in found.iter_mut().enumerate() {
                found.see(self.cell(row, column));
            }
        }
        for (column, found) in self.columns.iter_mut().zip(found) {
            column.kind = found.kind();
        }
        Ok(())
    }
}

fn offset(place: usize) -> Result<u32, AskError> {
    u32::try_from(place).map_err(|_| AskError::TooMany)
}

/// What the cells of a column were so far.
#[derive(Clone, Debug, Default)]
struct ColumnStats {
    is_any: bool,
    not_decimal: bool,
    not_date: bool,
}

impl ColumnStats {
    fn see(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.is_any = true;
        self.not_decimal = self.not_decimal || value::decimal(text).is_none();
        self.not_date = self.not_date || value::date(text).is_none();
    }

    fn kind(&self) -> Kind {
        match self {
            Self { is_any: true, not_decimal: false, .. } => Kind::Decimal,
            Self { is_any: true, not_date: false, .. } => Kind::Date,
            _ => Kind::Text,
        }
    }
}
