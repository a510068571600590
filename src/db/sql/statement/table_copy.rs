//! Statements on tables whose names and columns are read from the database, by which a state is copied. Not here: those
//! whose tables are known when they are written.

use std::marker::PhantomData;

use super::{Statement, Value};

impl<T> Statement<T> {
    /// Reads all rows.
    pub fn all_of(table: &str, columns: &[String]) -> Self {
        Self::of_text(format!("SELECT {} FROM {table}", columns.join(", ")))
    }

    /// Reads 1 for each row.
    pub fn any_of(table: &str) -> Self {
        Self::of_text(format!("SELECT 1::BIGINT FROM {table}"))
    }

    /// Reads the largest number of a column, or 0.
    pub fn max_of(table: &str, column: &str) -> Self {
        Self::of_text(format!("SELECT coalesce(max({column}), 0) FROM {table}"))
    }

    fn of_text(text: String) -> Self {
        Self { text: text.into(), values: Vec::new(), row: PhantomData }
    }
}

impl Statement {
    /// Inserts rows, at least one, into a table of PostgreSQL, with the numbers that it would give itself.
    pub fn insert_into(table: &str, columns: &[String], rows: Vec<Vec<Value>>) -> Self {
        let places = format!("({})", vec!["?"; columns.len()].join(", "));
        let places = vec![places; rows.len()].join(", ");
        let columns = columns.join(", ");
        let text = format!("INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE VALUES {places}");
        Self { values: rows.into_iter().flatten().collect(), ..Self::of_text(text) }
    }
}
