//! The rows of the sections: one trade, position, quote, transfer, account, return.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use super::{
    accounts,
    node::Node,
    values::{Exact, Symbol, Time},
    words::{AssetClass, Method, Side, Status, Timeframe, TransferType},
};

#[derive(Clone, Debug)]
pub struct Trade {
    /// When it was executed.
    pub timestamp: Time,
    pub symbol: Symbol,
    pub side: Side,
    pub quantity: Decimal,
    pub price: Decimal,
}

/// The position in one symbol.
#[derive(Clone, Debug)]
pub struct Position {
    pub symbol: Symbol,
    pub quantity: Decimal,
    /// Average cost per share.
    pub cost_basis: Decimal,
    pub asset_class: AssetClass,
    /// Name of the company or fund.
    pub name: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Quote {
    pub symbol: Symbol,
    /// Last price per share.
    pub price: Decimal,
    /// Change since the previous close, in percent.
    pub change_pct: Decimal,
}

/// One deposit or withdrawal.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// When it was made.
    pub timestamp: Time,
    pub kind: TransferType,
    pub method: Method,
    pub amount: Decimal,
    /// How far it is.
    pub status: Status,
}

/// The value and cash of one account.
#[derive(Clone, Debug)]
pub struct AccountSummary {
    pub account: String,
    /// Value of positions and cash.
    pub total_value: Decimal,
    pub total_cash: Decimal,
    /// Cash that can be withdrawn now.
    pub settled_cash: Decimal,
}

/// The returns of one account, by timeframe.
pub type Performance = BTreeMap<Timeframe, Return>;

/// The return of one account over one timeframe.
#[derive(Clone, Copy, Debug)]
pub struct Return {
    pub return_pct: Decimal,
    pub contributions: Decimal,
}

impl Trade {
    pub(super) fn read(row: &Node<'_>) -> Option<Self> {
        let (timestamp, symbol, side) = (row.get("timestamp"), row.get("symbol"), row.get("side"));
        let (quantity, price) = (positive(row, "quantity"), not_negative(row, "price"));
        Some(Self { timestamp: timestamp?, symbol: symbol?, side: side?, quantity: quantity?, price: price? })
    }
}

impl Position {
    pub(super) fn read(row: &Node<'_>) -> Option<Self> {
        let (symbol, asset_class, name) = (row.get("symbol"), row.get("asset_class"), row.find("name"));
        let (quantity, cost_basis) = (number(row, "quantity"), number(row, "cost_basis"));
        Some(Self {
            symbol: symbol?,
            quantity: quantity?,
            cost_basis: cost_basis?,
            asset_class: asset_class?,
            name,
        })
    }
}

impl Quote {
    pub(super) fn read(row: &Node<'_>) -> Option<Self> {
        let (symbol, price) = (row.get("symbol"), not_negative(row, "price"));
        let change_pct = number(row, "change_pct");
        if change_pct.is_some_and(|change| change <= Decimal::NEGATIVE_ONE * Decimal::ONE_HUNDRED) {
            row.refuse("change_pct", "out-of-range", "must be above -100");
        }
        Some(Self { symbol: symbol?, price: price?, change_pct: change_pct? })
    }
}

impl Transfer {
    pub(super) fn read(row: &Node<'_>) -> Option<Self> {
        let (timestamp, kind, method) = (row.get("timestamp"), row.get("type"), row.get("method"));
        let (amount, status) = (positive(row, "amount"), row.get("status"));
        Some(Self { timestamp: timestamp?, kind: kind?, method: method?, amount: amount?, status: status? })
    }
}

impl AccountSummary {
    pub(super) fn read(row: &Node<'_>) -> Option<Self> {
        let (account, total_value) = (row.get("account"), number(row, "total_value"));
        let (total_cash, settled_cash) = (number(row, "total_cash"), number(row, "settled_cash"));
        Some(Self {
            account: account?,
            total_value: total_value?,
            total_cash: total_cash?,
            settled_cash: settled_cash?,
        })
    }

    /// Whether it is of the account. Case does not matter.
    pub fn is_of(&self, account: &str) -> bool {
        accounts::same(&self.account, account)
    }
}

impl Return {
    pub(super) fn read(row: &Node<'_>) -> Option<Self> {
        let (return_pct, contributions) = (number(row, "return_pct"), number(row, "contributions"));
        Some(Self { return_pct: return_pct?, contributions: contributions? })
    }
}

/// The section's own timeframe, and those listed under `timeframes`.
pub(super) fn read_performance(section: &Node<'_>) -> Option<Performance> {
    let own = (section.get("timeframe"), Return::read(section));
    let mut performance: Performance = section
        .members("timeframes", |word, row| {
            let timeframe: Option<Timeframe> = word.parse().ok();
            if timeframe.is_none() {
                row.report("unknown-key", format!("{word:?} is not a timeframe"));
            }
            Some((timeframe?, Return::read(row)?))
        })
        .into_iter()
        .collect();
    performance.insert(own.0?, own.1?);
    Some(performance)
}

fn number(row: &Node<'_>, key: &str) -> Option<Decimal> {
    row.get(key).map(|Exact(number)| number)
}

fn not_negative(row: &Node<'_>, key: &str) -> Option<Decimal> {
    let value = number(row, key)?;
    if value.is_sign_negative() && !value.is_zero() {
        row.refuse(key, "out-of-range", "must not be negative");
    }
    Some(value)
}

fn positive(row: &Node<'_>, key: &str) -> Option<Decimal> {
    let value = number(row, key)?;
    if value <= Decimal::ZERO {
        row.refuse(key, "out-of-range", "must be above 0");
    }
    Some(value)
}
