//! Groups rows, and aggregates them.

use std::collections::{HashMap, hash_map::Entry};

use rust_decimal::Decimal;

use super::{
    bounds::MAX_GROUPS,
    error::AskError,
    filter,
    plan::{Output, Plan},
    question::Function,
    sort::Directed,
    table::{Table, Watch},
    value::Value,
};

/// The digits of a mean: as many as a double keeps.
const DIGITS: u32 = 15;

/// What is known of a column of the answer in one group.
enum ColumnState<'a> {
    Same(Value<'a>),
    Count(u64),
    /// The sum, and of how many.
    Sum(Decimal, u64),
    Mean(Decimal, u64),
    Least(Value<'a>),
    Greatest(Value<'a>),
}

/// The rows of the answer, sorted. Without groups to put rows into, all are one.
pub(super) fn groups<'a>(
    table: &'a Table,
    plan: &Plan<'a>,
    watch: &Watch<'_>,
) -> Result<Vec<Vec<Value<'a>>>, AskError> {
    let mut found: HashMap<Vec<Value<'a>>, usize> = HashMap::new();
    let mut groups: Vec<Vec<ColumnState<'a>>> = Vec::new();
    if plan.groups.is_empty() {
        found.insert(Vec::new(), 0);
        groups.push(plan.all().map(ColumnState::new).collect());
    }
    for row in 0..table.rows() {
        watch.check(row)?;
        if !filter::passes(table, &plan.filters, row) {
            continue;
        }
        let key = plan.groups.iter().map(|column| table.value(row, *column)).collect();
        let at = match found.entry(key) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(_) if groups.len() == MAX_GROUPS => {
                return Err(AskError::TooManyGroups(MAX_GROUPS));
            }
            Entry::Vacant(entry) => {
                groups.push(plan.all().map(ColumnState::new).collect());
                *entry.insert(groups.len() - 1)
            }
        };
        for (seen, output) in groups[at].iter_mut().zip(plan.all()) {
            seen.see(table, output, row)?;
        }
    }
    Ok(sort(plan, groups))
}

fn sort<'a>(plan: &Plan<'a>, groups: Vec<Vec<ColumnState<'a>>>) -> Vec<Vec<Value<'a>>> {
    let shown = plan.outputs.len();
    let keyed = groups.into_iter().map(|group| {
        let mut values: Vec<_> = group.into_iter().map(ColumnState::value).collect();
        let key = values.drain(shown..).zip(&plan.orders);
        let key: Vec<_> = key.map(|(value, (_, direction))| Directed::new(*direction, value)).collect();
        (key, values)
    });
    let mut keyed: Vec<_> = keyed.collect();
    keyed.sort_by(|(left, _), (right, _)| left.cmp(right));
    keyed.into_iter().map(|(_, values)| values).collect()
}

impl<'a> ColumnState<'a> {
    fn new(output: &Output) -> Self {
        match output.function {
            None => Self::Same(Value::Null),
            Some(Function::Count) => Self::Count(0),
            Some(Function::Sum) => Self::Sum(Decimal::ZERO, 0),
            Some(Function::Avg) => Self::Mean(Decimal::ZERO, 0),
            Some(Function::Min) => Self::Least(Value::Null),
            Some(Function::Max) => Self::Greatest(Value::Null),
        }
    }

    fn see(&mut self, table: &'a Table, output: &Output, row: usize) -> Result<(), AskError> {
        let Some(column) = output.column else {
            if let Self::Count(count) = self {
                *count += 1;
            }
            return Ok(());
        };
        let value = table.value(row, column);
        match (self, value) {
            (_, Value::Null) => {}
            (Self::Count(count), _) => *count += 1,
            (Self::Sum(sum, count) | Self::Mean(sum, count), Value::Decimal(number)) => {
                let overflow = || AskError::Overflow(table.columns()[column].name.clone());
                *sum = sum.checked_add(number).ok_or_else(overflow)?;
                *count += 1;
            }
            (Self::Same(kept), value) if kept.is_null() => *kept = value,
            (Self::Least(kept), value) if kept.is_null() || value < *kept => *kept = value,
            (Self::Greatest(kept), value) if kept.is_null() || value > *kept => *kept = value,
            (Self::Sum(..) | Self::Mean(..) | Self::Same(_) | Self::Least(_) | Self::Greatest(_), _) => {}
        }
        Ok(())
    }

    fn value(self) -> Value<'a> {
        match self {
            Self::Same(value) | Self::Least(value) | Self::Greatest(value) => value,
            Self::Count(count) => Value::Decimal(count.into()),
            Self::Sum(_, 0) | Self::Mean(_, 0) => Value::Null,
            Self::Sum(sum, _) => Value::Decimal(sum),
            Self::Mean(sum, count) => Value::Decimal(mean(sum, count)),
        }
    }
}

fn mean(sum: Decimal, count: u64) -> Decimal {
    let mean = sum / Decimal::from(count);
    mean.round_sf(DIGITS).unwrap_or(mean)
}
