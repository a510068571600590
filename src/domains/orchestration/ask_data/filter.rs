//! Filters rows.

use std::cmp::Ordering;

use super::{question::Operator, table::Table, value::Value};

/// The condition on a cell.
pub(super) struct Filter<'a> {
    pub(super) column: usize,
    pub(super) test: Test<'a>,
}

pub(super) enum Test<'a> {
    Compare(Operator, Value<'a>),
    /// In lower case.
    Contains(String),
    In(Vec<Value<'a>>),
    IsNull(bool),
}

/// Whether a row passes every filter.
pub(super) fn passes(table: &Table, filters: &[Filter<'_>], row: usize) -> bool {
    filters.iter().all(|filter| filter.passes(table, row))
}

impl Filter<'_> {
    fn passes(&self, table: &Table, row: usize) -> bool {
        let text = table.cell(row, self.column);
        if let Test::IsNull(is_null) = self.test {
            return text.is_empty() == is_null;
        }
        if text.is_empty() {
            return false;
        }
        match &self.test {
            Test::Contains(part) => text.to_lowercase().contains(part),
            Test::In(values) => values.contains(&table.value(row, self.column)),
            Test::Compare(operator, value) => holds(*operator, table.value(row, self.column).cmp(value)),
            Test::IsNull(_) => false,
        }
    }
}

fn holds(operator: Operator, order: Ordering) -> bool {
    match operator {
        Operator::Ne => order.is_ne(),
        Operator::Lt => order.is_lt(),
        Operator::Le => order.is_le(),
        Operator::Gt => order.is_gt(),
        Operator::Ge => order.is_ge(),
        Operator::Eq | Operator::Contains | Operator::In | Operator::IsNull => order.is_eq(),
    }
}
