//! What the rules look at. Not here: where it is read.

/// What is known of a stock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Facts {
    /// Market capitalisation in crore rupees.
    pub market_cap_cr: Option<f64>,
    pub pe: Option<f64>,
    /// Return on equity in percent.
    pub roe_pct: Option<f64>,
    pub debt_to_equity: Option<f64>,
    pub price: Option<f64>,
    /// Turnover of a day in crore rupees.
    pub turnover_cr: Option<f64>,
    pub rsi_14: Option<f64>,
}
