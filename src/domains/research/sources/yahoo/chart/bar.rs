//! A day of a chart.

use chrono::NaiveDate;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    pub date: NaiveDate,
    /// Last price.
    pub close: f64,
    /// Last price less later dividends.
    pub adjusted_close: Option<f64>,
    /// Number of shares traded.
    pub volume: Option<f64>,
}
