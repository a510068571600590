//! A question with its names resolved: every column is there, every function fits it, every value is of its kind.

use std::borrow::Cow;

use serde_json::Value as Json;

use super::{
    bounds::MOST_SHOWN,
    error::AskError,
    filter::{Filter, Test},
    question::{Condition, Function, Operator, Order, Pick, Question},
    sort::Direction,
    table::Table,
    value::{Kind, Value},
};
use toolwire_contract::near;

/// The limit of rows of a question without one.
const DEFAULT_LIMIT: usize = 100;

/// The steps of an answer.
pub(super) struct Plan<'a> {
    pub(super) outputs: Vec<Output>,
    pub(super) filters: Vec<Filter<'a>>,
    pub(super) groups: Vec<usize>,
    pub(super) orders: Vec<(Output, Direction)>,
    pub(super) limit: usize,
}

/// A column of the answer: one of the table's, or a function of it; without a column, the count of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) column: Option<usize>,
    pub(super) function: Option<Function>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(table: &Table, question: &'a Question) -> Result<Self, AskError> {
        let groups = question.group_by.iter().map(|name| find(table, name)).collect::<Result<Vec<_>, _>>()?;
        let mut outputs =
            question.select.iter().map(|pick| output(table, pick)).collect::<Result<Vec<_>, _>>()?;
        let plain = |column| Output { column: Some(column), function: None };
        if outputs.is_empty() && groups.is_empty() {
            outputs.extend((0..table.columns().len()).map(plain));
        } else if outputs.is_empty() {
            outputs.extend(groups.iter().copied().map(plain));
            outputs.push(Output { column: None, function: Some(Function::Count) });
        }
        let order = |order: &Order| {
            let direction = if order.descending { Direction::Down } else { Direction::Up };
            Ok((output(table, &order.by)?, direction))
        };
        let orders = question.order_by.iter().map(order).collect::<Result<Vec<_>, _>>()?;
        let filters = question.filter.iter().map(|condition| filter(table, condition));
        let filters = filters.collect::<Result<Vec<_>, _>>()?;
        let limit = question.limit.unwrap_or(DEFAULT_LIMIT).min(MOST_SHOWN);
        let made = Self { outputs, filters, groups, orders, limit };
        made.check_groups(table)?;
        Ok(made)
    }

    /// Whether rows are put together.
    pub(super) fn is_grouped(&self) -> bool {
        !self.groups.is_empty() || self.all().any(|output| output.function.is_some())
    }

    /// What is shown and what is sorted by.
    pub(super) fn all(&self) -> impl Iterator<Item = &Output> {
        self.outputs.iter().chain(self.orders.iter().map(|(output, _)| output))
    }

    /// What is shown of a group is the same in all its rows, or a function of them.
    fn check_groups(&self, table: &Table) -> Result<(), AskError> {
        let is_plain = |output: &&Output| output.function.is_none();
        let mut loose = self.all().filter(is_plain).filter_map(|output| output.column);
        match loose.find(|column| self.is_grouped() && !self.groups.contains(column)) {
            Some(column) => Err(AskError::NotGrouped(table.columns()[column].name.clone())),
            None => Ok(()),
        }
    }
}

impl Output {
    /// Such as `region`, `sum(revenue)`, `count`.
    pub(super) fn name(&self, table: &Table) -> String {
        let column = self.column.map(|column| table.columns()[column].name.as_str());
        match (self.function, column) {
            (Some(function), Some(column)) => format!("{}({column})", function.into_str()),
            (Some(function), None) => function.into_str().to_owned(),
            (None, column) => column.unwrap_or_default().to_owned(),
        }
    }

    pub(super) fn kind(&self, table: &Table) -> Kind {
        match (self.function, self.column) {
            (Some(Function::Min | Function::Max) | None, Some(column)) => table.columns()[column].kind,
            _ => Kind::Decimal,
        }
    }
}

fn find(table: &Table, name: &str) -> Result<usize, AskError> {
    let names = || table.columns().iter().map(|column| column.name.as_str());
    let unknown = || AskError::UnknownColumn {
        name: name.chars().take(128).collect(),
        near: near::did_you_mean(name, names()),
    };
    names().position(|other| other == name.trim()).ok_or_else(unknown)
}

fn output(table: &Table, pick: &Pick) -> Result<Output, AskError> {
    let column = pick.column.as_deref().map(|name| find(table, name)).transpose()?;
    let output = Output { column, function: pick.function };
    match (pick.function, column.map(|column| &table.columns()[column])) {
        (Some(Function::Count), _) | (_, Some(_))
            if !matches!(pick.function, Some(Function::Sum | Function::Avg)) =>
        {
            Ok(output)
        }
        (_, Some(column)) if column.kind == Kind::Decimal => Ok(output),
        (Some(function), Some(column)) => Err(AskError::NotDecimal {
            function: function.into_str(),
            column: column.name.clone(),
            kind: column.kind,
        }),
        _ => Err(AskError::NoColumn),
    }
}

fn filter<'a>(table: &Table, condition: &'a Condition) -> Result<Filter<'a>, AskError> {
    let column = find(table, &condition.column)?;
    let kind = table.columns()[column].kind;
    let wrong = |needed| AskError::Value {
        operator: condition.operator.into_str(),
        column: table.columns()[column].name.clone(),
        needed,
        found: condition.value.to_string().chars().take(80).collect(),
    };
    let value = |json: &'a Json| read(kind, json).ok_or_else(|| wrong(expected_words(kind)));
    let test = match (condition.operator, &condition.value) {
        (Operator::IsNull, Json::Null) => Test::IsNull(true),
        (Operator::IsNull, Json::Bool(is_null)) => Test::IsNull(*is_null),
        (Operator::IsNull, _) => return Err(wrong("true or false")),
        (Operator::In, Json::Array(items)) => Test::In(items.iter().map(value).collect::<Result<_, _>>()?),
        (Operator::In, _) => return Err(wrong("a list")),
        (Operator::Contains, Json::String(text)) => Test::Contains(text.to_lowercase()),
        (Operator::Contains, _) => return Err(wrong("a text")),
        (operator, json) => Test::Compare(operator, value(json)?),
    };
    Ok(Filter { column, test })
}

fn expected_words(kind: Kind) -> &'static str {
    match kind {
        Kind::Decimal => "a number",
        Kind::Date => "a date, such as 2024-12-31 or 2024-12-31T08:00:00Z",
        Kind::Text => "a text",
    }
}

/// A value of the column's kind; none for what is not one.
fn read(kind: Kind, json: &Json) -> Option<Value<'_>> {
    let text = match json {
        Json::String(text) => Cow::Borrowed(text.trim()),
        Json::Number(number) => Cow::Owned(number.to_string()),
        Json::Bool(flag) => Cow::Owned(flag.to_string()),
        _ => return None,
    };
    kind.read(text).filter(|value| !value.is_null())
}
