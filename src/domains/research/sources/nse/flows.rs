//! What institutions did in the whole market on the last day.

use chrono::NaiveDate;
use serde::Deserialize;

use super::{amount::Amount, day};
use toolwire_sources::upstream::{
    http::{Answer, Failure},
    json::Items,
    text::Line,
};

/// Purchases less sales of a day, in crore rupees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flows {
    pub date: NaiveDate,
    pub fii_net_cr: f64,
    pub dii_net_cr: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    category: Line,
    date: Line,
    net_value: Amount,
}

pub(super) fn parse(answer: &Answer) -> Result<Flows, Failure> {
    let rows = answer.json::<Items<Row>>()?.read;
    let (fii, dii) = (of(&rows, "FII")?, of(&rows, "DII")?);
    let (date, other) = (day::parse(&fii.date)?, day::parse(&dii.date)?);
    if date != other {
        return Err(Failure::malformed("institutional flows of two days"));
    }
    Ok(Flows { date, fii_net_cr: net(fii)?, dii_net_cr: net(dii)? })
}

/// The row of a category, which may have notes behind its name, such as `FII/FPI **`.
fn of<'a>(rows: &'a [Row], category: &str) -> Result<&'a Row, Failure> {
    let row = rows.iter().find(|row| row.category.trim_start().starts_with(category));
    row.ok_or_else(|| Failure::malformed(format!("no row of {category}")))
}

fn net(row: &Row) -> Result<f64, Failure> {
    row.net_value.0.ok_or_else(|| Failure::malformed("a row without its net value"))
}
