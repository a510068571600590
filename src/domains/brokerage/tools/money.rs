//! Amounts between the data's exact decimals and the payload's doubles.
//!
//! A double goes in and out by its shortest decimal form, so that 193.12 stays 193.12.

use std::str::FromStr;

use rust_decimal::{Decimal, RoundingStrategy};

use toolwire_base::words::counted;

/// The powers of ten that are doubles exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// Up to here every whole number is a double.
const WHOLE: u128 = 1 << f64::MANTISSA_DIGITS;

/// An amount as given: the double that is nearest to it.
#[allow(clippy::cast_precision_loss, reason = "only of numbers that are doubles")]
pub(super) fn exact(amount: Decimal) -> f64 {
    let (digits, power) = (amount.mantissa(), POWERS.get(amount.scale() as usize));
    match power.filter(|_| digits.unsigned_abs() <= WHOLE) {
        // Of two exact doubles the quotient is the nearest one too.
        Some(power) => digits as f64 / power,
        None => amount.to_string().parse().expect("a decimal is written as a number"),
    }
}

/// A computed amount or percentage, rounded to two decimals.
pub(super) fn round(amount: Decimal) -> Decimal {
    amount.round_dp_with_strategy(2, RoundingStrategy::MidpointAwayFromZero)
}

/// A computed amount or percentage, rounded to two decimals.
pub(super) fn cents(amount: Decimal) -> f64 {
    exact(round(amount))
}

/// An amount in the words of a warning.
pub(super) fn text(amount: Decimal) -> String {
    format!("{:.2}", round(amount))
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
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_amount_is_the_double_that_its_text_is(digits in -(1_i64 << 56)..1_i64 << 56, scale in 0_u32..=28) {
            let amount = Decimal::new(digits, scale);
            let read: f64 = amount.to_string().parse().unwrap();
            prop_assert_eq!(exact(amount).to_bits(), read.to_bits(), "{}", amount);
        }
    }

    #[test]
    fn amounts_keep_their_digits_both_ways() {
        for amount in [193.12, 0.1, -0.6, 128_450.22, 152.375, 1e-7, 0.0] {
            assert!((exact(decimal(amount)) - amount).abs() < f64::EPSILON, "{amount}");
        }
    }

    #[test]
    fn half_a_cent_is_rounded_away_from_zero() {
        assert_eq!(round(decimal(1.005)), decimal(1.01));
        assert_eq!(round(decimal(-1.005)), decimal(-1.01));
    }
}
