//! The question about a table.

use serde_json::Value as Json;

/// The parts of a question. Without any, it asks for the shape of the table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Question {
    /// What each row shows. None: every column, or the groups and their counts.
    pub select: Vec<Pick>,
    /// What rows must keep, each of them.
    pub filter: Vec<Condition>,
    /// The columns by which rows are put together.
    pub group_by: Vec<String>,
    /// What rows are sorted by, first to last. None: the order of the table.
    pub order_by: Vec<Order>,
    /// The most rows.
    pub limit: Option<usize>,
}

/// A column, or a function of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pick {
    /// The column. None only for `count`, of rows.
    pub column: Option<String>,
    pub function: Option<Function>,
}

/// A function of all values of a column in a group. Cells without a value are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Function {
    /// How many there are.
    Count,
    Sum,
    /// Their mean, to 15 digits.
    Avg,
    /// The least.
    Min,
    Max,
}

/// What a cell must be.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    pub column: String,
    /// How the cell is compared.
    pub operator: Operator,
    /// With what: a list for `in`, true or false for `is_null`.
    pub value: Json,
}

/// How a cell is compared. A cell without a value passes `is_null` alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Operator {
    Eq,
    /// Not equal.
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// Its text contains the value; upper and lower case are the same.
    Contains,
    /// Equal to one of a list.
    In,
    /// Without a value, or with one.
    IsNull,
}

/// What rows are sorted by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// A column, or a function of it.
    pub by: Pick,
    pub descending: bool,
}

impl Question {
    /// Whether it asks for the shape of the table alone.
    pub(super) fn is_open(&self) -> bool {
        *self == Self::default()
    }
}
