//! Realised profit or loss: each sale is matched with the oldest shares still held.

use std::collections::VecDeque;

use rust_decimal::Decimal;

use super::money::{decimal, round};
use crate::{proto::v1::Trade, source::Side};

/// The totals of the known trades of one symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Realized {
    /// Every sale is covered by known purchases.
    Known {
        /// Profit or loss of the shares sold, to the cent.
        profit: Decimal,
        /// The shares that should be held after the last trade.
        left: Decimal,
        /// Whether anything was sold.
        is_any_sold: bool,
    },
    /// More shares were sold than are known to have been bought before.
    Uncovered { shares: Decimal },
}

/// Shares bought together that are still held.
struct Lot {
    quantity: Decimal,
    price: Decimal,
}

/// The profit or loss of one symbol's trades, which come newest first.
pub(super) fn realize<'a>(newest_first: impl DoubleEndedIterator<Item = &'a Trade>) -> Realized {
    let mut lots = VecDeque::new();
    let (mut profit, mut uncovered, mut is_any_sold) = (Decimal::ZERO, Decimal::ZERO, false);
    for trade in newest_first.rev() {
        let (quantity, price) = (decimal(trade.quantity), decimal(trade.price));
        if trade.side == Side::Buy.into_str() {
            lots.push_back(Lot { quantity, price });
        } else {
            is_any_sold = true;
            let sold = sell(&mut lots, quantity, price);
            profit += sold.profit;
            uncovered += sold.uncovered;
        }
    }
    if !uncovered.is_zero() {
        return Realized::Uncovered { shares: uncovered };
    }
    let left = lots.iter().map(|lot| lot.quantity).sum();
    Realized::Known { profit: round(profit), left, is_any_sold }
}

struct Sold {
    profit: Decimal,
    uncovered: Decimal,
}

fn sell(lots: &mut VecDeque<Lot>, quantity: Decimal, price: Decimal) -> Sold {
    let mut sold = Sold { profit: Decimal::ZERO, uncovered: quantity };
    while !sold.uncovered.is_zero() {
        let Some(oldest) = lots.front_mut() else { break };
        let matched = oldest.quantity.min(sold.uncovered);
        sold.profit += matched * (price - oldest.price);
        sold.uncovered -= matched;
        oldest.quantity -= matched;
        if oldest.quantity.is_zero() {
            lots.pop_front();
        }
    }
    sold
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trades as (side, quantity, price), oldest first.
    fn of(trades: &[(&str, f64, f64)]) -> Realized {
        let trade = |(side, quantity, price): &(&str, f64, f64)| Trade {
            side: (*side).to_owned(),
            quantity: *quantity,
            price: *price,
            ..Trade::default()
        };
        let newest_first: Vec<_> = trades.iter().rev().map(trade).collect();
        realize(newest_first.iter())
    }

    fn known(profit: f64, left: f64, is_any_sold: bool) -> Realized {
        Realized::Known { profit: decimal(profit), left: decimal(left), is_any_sold }
    }

    #[test]
    fn the_oldest_shares_are_sold_first() {
        let trades = [("BUY", 10.0, 100.0), ("BUY", 10.0, 200.0), ("SELL", 15.0, 210.0)];
        assert_eq!(of(&trades), known(1150.0, 5.0, true));
    }

    #[test]
    fn a_lot_may_be_sold_in_parts() {
        let trades = [("BUY", 10.0, 100.0), ("SELL", 4.0, 90.0), ("BUY", 5.0, 80.0), ("SELL", 8.0, 95.5)];
        // 4 × -10, then 6 × -4.5 and 2 × 15.5.
        assert_eq!(of(&trades), known(-36.0, 3.0, true));
    }

    #[test]
    fn fractions_add_up_exactly() {
        let trades = [("BUY", 0.1, 10.0), ("BUY", 0.2, 10.0), ("SELL", 0.3, 20.0)];
        assert_eq!(of(&trades), known(3.0, 0.0, true));
    }

    #[test]
    fn nothing_sold_is_nothing_realised() {
        assert_eq!(of(&[]), known(0.0, 0.0, false));
        assert_eq!(of(&[("BUY", 1.0, 5.0)]), known(0.0, 1.0, false));
    }

    #[test]
    fn a_sale_before_its_purchase_is_not_covered() {
        let trades = [("SELL", 5.0, 10.0), ("BUY", 5.0, 8.0)];
        assert_eq!(of(&trades), Realized::Uncovered { shares: decimal(5.0) });
        let trades = [("BUY", 3.0, 8.0), ("SELL", 5.0, 10.0)];
        assert_eq!(of(&trades), Realized::Uncovered { shares: decimal(2.0) });
    }
}
