//! Whether the numbers of a summary agree: what can be computed of others is compared with what is stated.
//!
//! Numbers that contradict each other are all left out, since any of them may be wrong.

use super::summary::Summary;

/// As far as numbers of different days may differ.
const MAX_FACTOR: f64 = 2.0;
/// As far as a price may be beyond a range that is not of the same hour.
const MAX_LATE: f64 = 1.25;

/// Takes out of a summary what contradicts something else of it, and says so in it.
pub(super) fn take_out(summary: &mut Summary) {
    let found =
        [market_cap(summary), price_to_earnings(summary), price_to_book(summary), year_range(summary)];
    summary.contradictions = found.into_iter().flatten().collect();
}

fn market_cap(summary: &mut Summary) -> Option<String> {
    let Summary { price, shares, market_cap, .. } = *summary;
    let (price, shares, stated) = (price?, shares?, market_cap?);
    if agree(stated, price * shares) {
        return None;
    }
    (summary.market_cap, summary.shares) = (None, None);
    Some(format!(
        "Yahoo Finance states a market capitalisation of {stated} and {shares} shares at {price}; neither is shown."
    ))
}

fn price_to_earnings(summary: &mut Summary) -> Option<String> {
    let Summary { price, trailing_eps, trailing_pe, .. } = *summary;
    let (price, eps, stated) = (price?, trailing_eps?, trailing_pe?);
    // Of a company without earnings there is none to compare.
    if eps == 0.0 || !is_in_one_currency(summary) || agree(stated, price / eps) {
        return None;
    }
    (summary.trailing_pe, summary.trailing_eps) = (None, None);
    Some(format!(
        "Yahoo Finance states a P/E of {stated} and earnings per share of {eps} at a price of {price}; \
         neither is shown."
    ))
}

fn price_to_book(summary: &mut Summary) -> Option<String> {
    let Summary { price, book_value, price_to_book, .. } = *summary;
    let (price, book, stated) = (price?, book_value?, price_to_book?);
    if book == 0.0 || !is_in_one_currency(summary) || agree(stated, price / book) {
        return None;
    }
    (summary.price_to_book, summary.book_value) = (None, None);
    Some(format!(
        "Yahoo Finance states a price to book of {stated} and a book value per share of {book} at a price of {price}; \
         neither is shown."
    ))
}

fn year_range(summary: &mut Summary) -> Option<String> {
    let (low, high) = (summary.fifty_two_week_low?, summary.fifty_two_week_high?);
    let is_outside = |price: f64| price > high * MAX_LATE || price < low / MAX_LATE;
    if low <= high && !summary.price.is_some_and(is_outside) {
        return None;
    }
    (summary.fifty_two_week_low, summary.fifty_two_week_high) = (None, None);
    let price = summary.price.map(|price| format!(" at a price of {price}")).unwrap_or_default();
    Some(format!(
        "Yahoo Finance states a range of {low} to {high} of the last 52 weeks{price}; it is not shown."
    ))
}

/// Whether results are stated in the currency of the price, if that is known.
fn is_in_one_currency(summary: &Summary) -> bool {
    let currencies = summary.currency.as_ref().zip(summary.financial_currency.as_ref());
    currencies.is_none_or(|(of_price, of_results)| of_price == of_results)
}

fn agree(stated: f64, computed: f64) -> bool {
    let factor = stated / computed;
    (1.0 / MAX_FACTOR..=MAX_FACTOR).contains(&factor)
}
