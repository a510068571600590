//! Amounts between the data's exact decimals and the payload's doubles.
//!
//! A double goes in and out by its shortest decimal form, so that 193.12 stays 193.12.

use std::str::FromStr;

use rust_decimal::{Decimal, RoundingStrategy};

use crate::words::counted;

/// An amount as given.
pub(super) fn exact(amount: Decimal) -> f64 {
    let text = amount.to_string();
    text.parse().expect("a decimal is written as a number")
}

/// A computed amount or percentage, rounded to two decimals.
pub(super) fn rounded(amount: Decimal) -> Decimal {
    amount.round_dp_with_strategy(2, RoundingStrategy::MidpointAwayFromZero)
}

/// A computed amount or percentage, rounded to two decimals.
pub(super) fn cents(amount: Decimal) -> f64 {
    exact(rounded(amount))
}

/// An amount in the words of a warning.
pub(super) fn text(amount: Decimal) -> String {
    format!("{:.2}", rounded(amount))
}

/// A number of shares in words: `1 share`, `0.75 shares`.
pub(super) fn shares(quantity: Decimal) -> String {
    counted(quantity.normalize(), "share", "shares")
}

/// The amount that a payload shows; zero for what no decimal can express.
pub(super) fn decimal(amount: f64) -> Decimal {
    Decimal::from_str(&amount.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_keep_their_digits_both_ways() {
        for amount in [193.12, 0.1, -0.6, 128_450.22, 152.375, 1e-7, 0.0] {
            assert!((exact(decimal(amount)) - amount).abs() < f64::EPSILON, "{amount}");
        }
    }

    #[test]
    fn half_a_cent_is_rounded_away_from_zero() {
        assert_eq!(rounded(decimal(1.005)), decimal(1.01));
        assert_eq!(rounded(decimal(-1.005)), decimal(-1.01));
    }
}
