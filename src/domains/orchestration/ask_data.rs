//! Questions about a table: choose, filter, group, sort. A pure function of a document's bytes and a question; no SQL,
//! no expressions, no model.

mod bounds;
mod error;
mod filter;
mod group;
mod json;
mod plan;
mod question;
mod read;
mod sort;
mod table;
mod value;

use serde_json::Value as Json;

use self::{
    bounds::MAX_BYTES,
    plan::Plan,
    sort::Directed,
    table::{Table, Watch},
    value::Value,
};
pub use self::{
    bounds::{MAX_DOCUMENT_BYTES, MOST_SHOWN},
    error::AskError,
    question::{Condition, Function, Operator, Order, Pick, Question},
    value::Kind,
};
use toolwire_state::workspace::mime;

/// Number of rows shown where the question chose none.
const SAMPLE: usize = 5;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    pub columns: Vec<(String, Kind)>,
    /// The first rows. A decimal of more than 15 digits is a text.
    pub rows: Vec<Vec<Json>>,
    /// Number of rows, with those that are not shown.
    pub rows_total: u64,
    /// How many rows were read.
    pub rows_scanned: u64,
    /// Whether rows are missing.
    pub truncated: bool,
    /// Irregularities of the table.
    pub warnings: Vec<String>,
    /// How to refine the question.
    pub hint: String,
}

/// Answers a question about a document. `is_late` is checked as rows are read, and ends it with [`AskError::Late`].
pub fn answer(
    mime: &str,
    bytes: &[u8],
    question: &Question,
    is_late: &dyn Fn() -> bool,
) -> Result<Answer, AskError> {
    let watch = Watch::new(is_late);
    let table = read::read(mime::Kind::of(mime), bytes, &watch)?;
    let mut answer = if question.is_open() {
        sample(&table)
    } else {
        evaluate(&table, &Plan::new(&table, question)?, &watch)?
    };
    answer.rows_scanned = table.rows() as u64;
    answer.truncated = answer.rows_total > answer.rows.len() as u64;
    answer.warnings.extend(table.warning());
    Ok(answer)
}

/// The shape of a table, for a caller that does not know it yet.
fn sample(table: &Table) -> Answer {
    let columns: Vec<_> = table.columns().iter().map(|column| (column.name.clone(), column.kind)).collect();
    let rows = (0..table.rows().min(SAMPLE)).map(|row| table.values(row).collect());
    let hint = "these are the columns and the first rows: ask again with select, where, group_by, order_by and limit";
    let rows_total = table.rows() as u64;
    Answer { columns, rows: within_bytes(rows), rows_total, hint: hint.to_owned(), ..Answer::default() }
}

fn evaluate(table: &Table, plan: &Plan<'_>, watch: &Watch<'_>) -> Result<Answer, AskError> {
    let columns = plan.outputs.iter().map(|output| (output.name(table), output.kind(table))).collect();
    let (rows, rows_total) = if plan.is_grouped() {
        let groups = group::groups(table, plan, watch)?;
        let rows_total = groups.len() as u64;
        (groups.into_iter().take(plan.limit).collect(), rows_total)
    } else {
        choose(table, plan, watch)?
    };
    let shown = rows.len();
    let mut answer =
        Answer { columns, rows: within_bytes(rows.into_iter()), rows_total, ..Answer::default() };
    if answer.rows.len() < shown {
        answer.hint = format!("the rows together exceed {MAX_BYTES} bytes: choose fewer columns");
    }
    Ok(answer)
}

/// The rows that pass, sorted, and how many there are. Only as many are kept as are shown.
fn choose<'a>(
    table: &'a Table,
    plan: &Plan<'a>,
    watch: &Watch<'_>,
) -> Result<(Vec<Vec<Value<'a>>>, u64), AskError> {
    let (mut best, mut count) = (sort::Best::new(plan.limit), 0);
    for row in 0..table.rows() {
        watch.check(row)?;
        if filter::passes(table, &plan.filters, row) {
            let key = plan.orders.iter().map(|(order, direction)| {
                Directed::new(*direction, order.column.map_or(Value::Null, |column| table.value(row, column)))
            });
            best.push(key.collect(), row);
            count += 1;
        }
    }
    let column = |row, at: Option<usize>| at.map_or(Value::Null, |at| table.value(row, at));
    let rows = best.into_rows();
    let rows = rows.map(|row| plan.outputs.iter().map(|output| column(row, output.column)).collect());
    Ok((rows.collect(), count))
}

/// The first rows, as many as fit.
fn within_bytes<'a>(rows: impl Iterator<Item = Vec<Value<'a>>>) -> Vec<Vec<Json>> {
    let mut remaining = MAX_BYTES;
    let fits = |row: &Vec<Value<'a>>| {
        let size: usize = row.iter().map(|value| value.size() + 1).sum();
        let fits = size <= remaining;
        remaining = remaining.saturating_sub(size);
        fits
    };
    rows.take_while(fits).map(|row| row.iter().map(Value::to_json).collect()).collect()
}

#[cfg(test)]
mod tests;
