//! Bulk and block deals, as JSON and, where that may have been cut, as CSV.

use chrono::NaiveDate;
use csv::{ReaderBuilder, StringRecord, Trim};
use serde::Deserialize;

use super::{amount::Amount, day};
use toolwire_sources::upstream::{
    http::{Answer, Failure},
    json::{Items, keep_ok},
    text::Line,
};

/// Number of rows at which the exchange silently truncates its JSON.
const MAX_JSON_ROWS: usize = 70;

#[derive(Clone, Debug, PartialEq)]
pub struct Deal {
    pub date: NaiveDate,
    pub client: Line,
    pub side: Side,
    pub quantity: i64,
    /// Average price per share in rupees.
    pub price: f64,
    /// Which list it stands in.
    pub kind: DealKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum Side {
    Buy,
    Sell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum DealKind {
    /// More than half a percent of the company's shares within a day.
    Bulk,
    /// One trade within the window for large ones.
    Block,
}

/// The deals of a JSON answer.
pub(super) struct Deals {
    pub(super) deals: Vec<Deal>,
    /// Whether there may be more than the answer shows.
    pub(super) may_be_cut: bool,
}

#[derive(Deserialize)]
struct Wire {
    /// Null where there are none; absent from an invalid answer.
    #[serde(deserialize_with = "Option::deserialize")]
    data: Option<Items<Row>>,
}

#[derive(Deserialize)]
struct Row {
    #[serde(rename = "BD_DT_DATE")]
    date: Line,
    #[serde(rename = "BD_SYMBOL")]
    symbol: Line,
    #[serde(rename = "BD_CLIENT_NAME")]
    client: Option<Line>,
    #[serde(rename = "BD_BUY_SELL")]
    side: Line,
    #[serde(rename = "BD_QTY_TRD")]
    quantity: Amount,
    #[serde(rename = "BD_TP_WATP")]
    price: Amount,
}

/// Where the columns of a CSV stand.
struct Columns {
    date: usize,
    symbol: usize,
    client: usize,
    side: usize,
    quantity: usize,
    price: usize,
}

impl DealKind {
    pub(super) const fn option(self) -> &'static str {
        match self {
            Self::Bulk => "bulk_deals",
            Self::Block => "block_deals",
        }
    }
}

impl Side {
    fn of(text: &str) -> Result<Self, Failure> {
        match text.trim() {
            "BUY" => Ok(Self::Buy),
            "SELL" => Ok(Self::Sell),
            _ => Err(Failure::malformed("a deal that is neither BUY nor SELL")),
        }
    }
}

/// The deals in a stock of a JSON answer.
pub(super) fn parse_json(answer: &Answer, kind: DealKind, symbol: &str) -> Result<Deals, Failure> {
    let rows = answer.json::<Wire>()?.data.unwrap_or_default();
    let may_be_cut = rows.read.len() + rows.lost >= MAX_JSON_ROWS;
    let rows = rows.into_iter().filter(|row| &*row.symbol == symbol);
    Ok(Deals { deals: keep_ok(rows.map(|row| row.deal(kind)))?, may_be_cut })
}

/// The deals in a stock of a CSV answer.
pub(super) fn parse_csv(answer: &Answer, kind: DealKind, symbol: &str) -> Result<Vec<Deal>, Failure> {
    let text = answer.text();
    let mut reader = ReaderBuilder::new().trim(Trim::All).flexible(true).from_reader(text.as_bytes());
    let columns = Columns::of(reader.headers().map_err(unreadable)?)?;
    let mut deals = Vec::new();
    for record in reader.records() {
        let record = record.map_err(unreadable)?;
        if record.get(0).is_some_and(|first| first.eq_ignore_ascii_case("no records")) {
            continue;
        }
        let is_of_another = |row: &Result<Row, _>| row.as_ref().is_ok_and(|row| &*row.symbol != symbol);
        deals.push(Some(columns.row(&record)).filter(|row| !is_of_another(row)));
    }
    keep_ok(deals.into_iter().flatten().map(|row| row?.deal(kind)))
}

#[allow(clippy::needless_pass_by_value, reason = "the form that map_err takes")]
fn unreadable(error: csv::Error) -> Failure {
    Failure::malformed(format!("not the CSV that was due: {error}"))
}

impl Row {
    fn deal(self, kind: DealKind) -> Result<Deal, Failure> {
        let missing = |what: &str| Failure::malformed(format!("a deal without {what}"));
        Ok(Deal {
            date: day::parse(&self.date)?,
            client: self.client.unwrap_or_default(),
            side: Side::of(&self.side)?,
            quantity: self.quantity.whole().ok_or_else(|| missing("a whole quantity"))?,
            price: self.price.0.ok_or_else(|| missing("a price"))?,
            kind,
        })
    }
}

impl Columns {
    /// Finds the columns by their names, which the exchange writes in a long and a short form.
    fn of(headers: &StringRecord) -> Result<Self, Failure> {
        let plain = |name: &str| -> String {
            name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
        };
        let names: Vec<_> = headers.iter().map(plain).collect();
        let find = |long: &str, short: &str| {
            let at = names.iter().position(|name| name.starts_with(long) || name == short);
            at.ok_or_else(|| Failure::malformed(format!("a CSV without a column {long}")))
        };
        Ok(Self {
            date: find("date", "bddtdate")?,
            symbol: find("symbol", "bdsymbol")?,
            client: find("clientname", "bdclientname")?,
            side: find("buysell", "bdbuysell")?,
            quantity: find("quantity", "bdqtytrd")?,
            price: find("tradeprice", "bdtpwatp")?,
        })
    }

    fn row(&self, record: &StringRecord) -> Result<Row, Failure> {
        let text = |at: usize| {
            let field = record.get(at).map(Line::of);
            field.ok_or_else(|| Failure::malformed("a CSV with a row that is too short"))
        };
        let amount = |at| Amount::of(&text(at)?).map_err(|error| Failure::malformed(error.to_string()));
        Ok(Row {
            date: text(self.date)?,
            symbol: text(self.symbol)?,
            client: Some(text(self.client)?),
            side: text(self.side)?,
            quantity: amount(self.quantity)?,
            price: amount(self.price)?,
        })
    }
}
