//! The rows of a comparison: one metric each, and which of its values is the best.

use prost_types::{Value, value::Kind};

use crate::proto::v1::{ComparedMetric, GetFundamentalsOutput, GetTechnicalsOutput};

/// What was found of a stock.
pub(super) struct Column {
    pub(super) symbol: String,
    pub(super) fundamentals: Option<GetFundamentalsOutput>,
    pub(super) technicals: Option<GetTechnicalsOutput>,
}

/// Which of several values is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Best {
    Highest,
    Lowest,
    /// The lowest value above zero: a negative price to earnings is not a bargain.
    LowestPositive,
    /// No value is better than another.
    None,
}

/// Name, unit, which is best, and where the number stands.
type Metric<T> = (&'static str, &'static str, Best, fn(&T) -> Option<f64>);

const FUNDAMENTALS: [Metric<GetFundamentalsOutput>; 9] = [
    ("market_cap_cr", "crore", Best::None, |it| it.market_cap_cr),
    ("pe", "ratio", Best::LowestPositive, |it| it.pe),
    ("forward_pe", "ratio", Best::LowestPositive, |it| it.forward_pe),
    ("pb", "ratio", Best::LowestPositive, |it| it.pb),
    ("roe_pct", "percent", Best::Highest, |it| it.roe_pct),
    ("debt_to_equity", "ratio", Best::Lowest, |it| it.debt_to_equity),
    ("dividend_yield_pct", "percent", Best::Highest, |it| it.dividend_yield_pct),
    ("fifty_two_week_high", "price", Best::None, |it| it.fifty_two_week_high),
    ("fifty_two_week_low", "price", Best::None, |it| it.fifty_two_week_low),
];

const TECHNICALS: [Metric<GetTechnicalsOutput>; 4] = [
    ("current_price", "price", Best::None, |it| Some(it.current_price)),
    ("rsi_14", "index", Best::None, |it| it.rsi_14),
    ("price_vs_sma50_pct", "percent", Best::None, |it| it.price_vs_sma50_pct),
    ("price_vs_sma200_pct", "percent", Best::None, |it| it.price_vs_sma200_pct),
];

pub(super) fn rows(columns: &[Column]) -> Vec<ComparedMetric> {
    let of_fundamentals =
        FUNDAMENTALS.iter().map(|metric| row(metric, columns, |it| it.fundamentals.as_ref()));
    let of_technicals = TECHNICALS.iter().map(|metric| row(metric, columns, |it| it.technicals.as_ref()));
    of_fundamentals.chain(of_technicals).collect()
}

/// The currency of all amounts, if it is the same.
pub(super) fn currency(columns: &[Column]) -> Option<String> {
    let of_fundamentals = columns.iter().filter_map(|it| Some(&it.fundamentals.as_ref()?.currency));
    let of_technicals = columns.iter().filter_map(|it| Some(&it.technicals.as_ref()?.currency));
    let mut currencies = of_fundamentals.chain(of_technicals);
    let first = currencies.next()?;
    if currencies.all(|currency| currency == first) { first.clone() } else { None }
}

/// The day of the oldest price.
pub(super) fn as_of(columns: &[Column]) -> Option<String> {
    columns.iter().filter_map(|it| Some(&it.technicals.as_ref()?.as_of)).min().cloned()
}

fn row<T>(metric: &Metric<T>, columns: &[Column], part: fn(&Column) -> Option<&T>) -> ComparedMetric {
    let (name, unit, best, number) = metric;
    let numbers: Vec<_> = columns.iter().map(|column| part(column).and_then(number)).collect();
    ComparedMetric {
        metric: (*name).to_owned(),
        unit: (*unit).to_owned(),
        best: best.of(&numbers).map(|at| columns[at].symbol.clone()),
        values: numbers.into_iter().map(value).collect(),
    }
}

fn value(number: Option<f64>) -> Value {
    Value { kind: Some(number.map_or(Kind::NullValue(0), Kind::NumberValue)) }
}

impl Best {
    /// Where the best number stands, if it is better than all others.
    fn of(self, numbers: &[Option<f64>]) -> Option<usize> {
        let sign = match self {
            Self::Highest => 1.0,
            Self::Lowest | Self::LowestPositive => -1.0,
            Self::None => return None,
        };
        let counts = |number: &f64| self != Self::LowestPositive || *number > 0.0;
        let ranked = numbers.iter().enumerate();
        let ranked = ranked.filter_map(|(at, number)| Some((sign * number.filter(counts)?, at)));
        let mut ranked: Vec<_> = ranked.collect();
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
        match ranked.as_slice() {
            [first, second, ..] if first.0 > second.0 => Some(first.1),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_better_than_all_others() {
        let some = |numbers: &[f64]| numbers.iter().copied().map(Some).collect::<Vec<_>>();
        assert_eq!(Best::Highest.of(&some(&[1.0, 3.0, 2.0])), Some(1));
        assert_eq!(Best::Lowest.of(&some(&[1.0, 0.0, 2.0])), Some(1));
        assert_eq!(Best::LowestPositive.of(&some(&[-4.0, 30.0, 20.0])), Some(2));
        assert_eq!(Best::LowestPositive.of(&[None, Some(2.0), Some(5.0)]), Some(1));
        assert_eq!(Best::Highest.of(&some(&[3.0, 3.0])), None, "a tie");
        assert_eq!(Best::None.of(&some(&[1.0, 3.0])), None);
        assert_eq!(Best::Highest.of(&[Some(1.0), None]), None, "nothing to compare with");
    }
}
