//! The value of a position at a quote.

use rust_decimal::Decimal;

use super::money::{decimal, round};
use crate::proto::v1::{Position, Quote};

/// What a position is worth, to the cent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Valuation {
    pub(super) market_value: Decimal,
    /// Market value less total cost.
    pub(super) unrealized_pl: Decimal,
    /// That in percent of total cost. `None` if the cost is zero.
    pub(super) unrealized_pl_pct: Option<Decimal>,
    /// Change of the market value since the previous close.
    pub(super) day_change: Decimal,
}

impl Valuation {
    pub(super) fn new(position: &Position, quote: &Quote) -> Self {
        let quantity = decimal(position.quantity);
        let value = quantity * decimal(quote.price);
        let cost = quantity * decimal(position.cost_basis);
        let gain = value - cost;
        Self {
            market_value: round(value),
            unrealized_pl: round(gain),
            unrealized_pl_pct: gain.checked_div(cost.abs()).map(|ratio| round(ratio * Decimal::ONE_HUNDRED)),
            day_change: round(day_change(value, decimal(quote.change_pct))),
        }
    }

    pub(super) const fn nothing() -> Self {
        let zero = Decimal::ZERO;
        Self { market_value: zero, unrealized_pl: zero, unrealized_pl_pct: None, day_change: zero }
    }
}

/// A value that has changed by this many percent was `value / (1 + percent / 100)` before.
fn day_change(value: Decimal, change_pct: Decimal) -> Decimal {
    // The data's loader refuses a fall of 100 percent or more.
    let ratio = change_pct.checked_div(Decimal::ONE_HUNDRED + change_pct).unwrap_or_default();
    value * ratio
}

#[cfg(test)]
mod tests {
    use super::*;

    fn valuation(quantity: f64, cost_basis: f64, price: f64, change_pct: f64) -> Valuation {
        let position = Position { quantity, cost_basis, ..Position::default() };
        Valuation::new(&position, &Quote { price, change_pct, ..Quote::default() })
    }

    #[test]
    fn a_position_is_valued_to_the_cent() {
        let valuation = valuation(42.0, 150.25, 193.12, 1.1);
        assert_eq!(valuation.market_value, decimal(8111.04));
        assert_eq!(valuation.unrealized_pl, decimal(1800.54));
        assert_eq!(valuation.unrealized_pl_pct, Some(decimal(28.53)));
        assert_eq!(valuation.day_change, decimal(88.25));
    }

    #[test]
    fn without_cost_there_is_no_percentage() {
        assert_eq!(valuation(3.0, 0.0, 10.0, 0.0).unrealized_pl_pct, None);
    }
}
