//! JSON as a table: a row an object, a column a key. Read row by row, so that no document is in memory as values.

use std::{cell::RefCell, collections::HashMap, fmt};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{
    bounds::MAX_COLUMNS,
    error::AskError,
    table::{Table, Watch},
};

/// The column of rows that are not objects.
const VALUE: &str = "value";

pub(super) fn read_list(text: &str, watch: &Watch<'_>) -> Result<Table, AskError> {
    let rows = Rows::new(watch);
    let mut json = serde_json::Deserializer::from_str(text);
    let read = json.deserialize_seq(List(&rows)).and_then(|()| json.end());
    rows.finish(read.map_err(|error| format!("a list of objects is needed: {error}")))
}

pub(super) fn read_lines(text: &str, watch: &Watch<'_>) -> Result<Table, AskError> {
    let rows = Rows::new(watch);
    let mut read = Ok(());
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let mut json = serde_json::Deserializer::from_str(line);
        let row = Row(&rows).deserialize(&mut json).and_then(|()| json.end());
        if let Err(error) = row {
            read = Err(format!("line {} is not JSON: {error}", number + 1));
            break;
        }
    }
    rows.finish(read)
}

/// The table so far. A cell, since serde's visitors are made by values.
struct Rows<'a> {
    watch: &'a Watch<'a>,
    made: RefCell<ParsedTable>,
}

#[derive(Default)]
struct ParsedTable {
    table: Table,
    names: HashMap<String, usize>,
    /// The cells of the row that is read.
    cells: Vec<String>,
    /// Why reading ended, if not for the JSON.
    error: Option<AskError>,
}

impl<'a> Rows<'a> {
    fn new(watch: &'a Watch<'a>) -> Self {
        Self { watch, made: RefCell::default() }
    }

    /// The table, or why there is none.
    fn finish(self, read: Result<(), String>) -> Result<Table, AskError> {
        let made = self.made.into_inner();
        match (made.error, read) {
            (Some(error), _) => Err(error),
            (None, Err(error)) => Err(AskError::NotATable(error)),
            (None, Ok(())) => Ok(made.table),
        }
    }

    fn end_row(&self) -> Result<(), AskError> {
        let ParsedTable { table, cells, .. } = &mut *self.made.borrow_mut();
        self.watch.check(table.rows())?;
        table.begin_row()?;
        let last = cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
        cells.iter().take(last).try_for_each(|cell| table.push_cell(cell))?;
        cells.iter_mut().take(last).for_each(String::clear);
        Ok(())
    }

    fn set(&self, name: &str, text: &str) -> Result<(), AskError> {
        let ParsedTable { table, names, cells, .. } = &mut *self.made.borrow_mut();
        let column = match names.get(name) {
            Some(column) => *column,
            None if names.len() == MAX_COLUMNS => return Err(AskError::TooMany),
            None => {
                let column = table.add_column(name.to_owned());
                names.insert(name.to_owned(), column);
                cells.push(String::new());
                column
            }
        };
        text.clone_into(&mut cells[column]);
        Ok(())
    }

    /// Keeps an [`AskError`] for later and ends the reading.
    fn end<E: serde::de::Error>(&self, result: Result<(), AskError>) -> Result<(), E> {
        result.map_err(|error| {
            let text = error.to_string();
            self.made.borrow_mut().error = Some(error);
            E::custom(text)
        })
    }
}

struct List<'a>(&'a Rows<'a>);

impl<'de> Visitor<'de> for List<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Row(self.0))?.is_some() {}
        Ok(())
    }
}

/// One row. What is not an object is the value of one column.
struct Row<'a>(&'a Rows<'a>);

impl<'de> DeserializeSeed<'de> for Row<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        let mut text = String::new();
        let is_object = Cell { text: &mut text, row: Some(self.0), is_nested: false }.deserialize(json)?;
        if !is_object {
            self.0.end(self.0.set(VALUE, &text))?;
        }
        self.0.end(self.0.end_row())
    }
}

/// One value as text: a text as it is, but in quotes within others. Tells whether it was a row.
struct Cell<'a> {
    text: &'a mut String,
    /// Where the members of an object go, if it is a row.
    row: Option<&'a Rows<'a>>,
    is_nested: bool,
}

impl<'de> DeserializeSeed<'de> for Cell<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<bool, D::Error> {
        json.deserialize_any(self)
    }
}

impl Cell<'_> {
    fn write(self, value: impl fmt::Display) -> bool {
        self.text.push_str(&value.to_string());
        false
    }
}

impl<'de> Visitor<'de> for Cell<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(self.is_nested && self.write("null"))
    }

    fn visit_bool<E>(self, value: bool) -> Result<bool, E> {
        Ok(self.write(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<bool, E> {
        Ok(self.write(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<bool, E> {
        Ok(self.write(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<bool, E> {
        Ok(self
            .write(serde_json::Number::from_f64(value).map(|number| number.to_string()).unwrap_or_default()))
    }

    fn visit_str<E>(self, value: &str) -> Result<bool, E> {
        let quoted = self.is_nested.then(|| serde_json::Value::from(value).to_string());
        Ok(self.write(quoted.as_deref().unwrap_or(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<bool, A::Error> {
        let mut mark = '[';
        loop {
            let begin = self.text.len();
            self.text.push(mark);
            let item = Cell { text: self.text, row: None, is_nested: true };
            if list.next_element_seed(item)?.is_none() {
                self.text.truncate(if mark == '[' { begin + 1 } else { begin });
                self.text.push(']');
                return Ok(false);
            }
            mark = ',';
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        if let Some(rows) = self.row {
            while let Some(name) = map.next_key::<String>()? {
                let mut text = String::new();
                map.next_value_seed(Cell { text: &mut text, row: None, is_nested: false })?;
                rows.end::<A::Error>(rows.set(&name, &text))?;
            }
            return Ok(true);
        }
        let mut mark = '{';
        while let Some(name) = map.next_key::<String>()? {
            self.text.push(mark);
            self.text.push_str(&serde_json::Value::from(name).to_string());
            self.text.push(':');
            map.next_value_seed(Cell { text: self.text, row: None, is_nested: true })?;
            mark = ',';
        }
        self.text.push_str(if mark == '{' { "{}" } else { "}" });
        Ok(false)
    }
}
