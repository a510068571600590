//! The stocks that are known by name: what a symbol stands for, and which symbols are near a mistyped one.
//!
//! Not a limit: a live source may know more.

use std::{collections::BTreeMap, time::SystemTime};

use chrono::{DateTime, Utc};
use serde::Deserialize;

use crate::upstream::text;

/// So many near symbols are named.
const MAX_NEAR: usize = 3;
/// What is less alike is not near (Jaro-Winkler).
const NEAR: f64 = 0.8;

/// The known stocks.
#[derive(Clone, Debug)]
pub struct Universe {
    recorded_at: DateTime<Utc>,
    stocks: BTreeMap<String, Stock>,
}

/// One known stock.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Stock {
    /// Symbol on the National Stock Exchange, such as `RELIANCE`.
    pub symbol: String,
    /// Name of the company, such as `Reliance Industries`.
    pub name: String,
    /// Sector.
    pub sector: String,
}

/// The file `research/universe.json`.
#[derive(Deserialize)]
struct File {
    recorded_at: String,
    stocks: Vec<Stock>,
}

/// The file is not as it should be.
#[derive(Debug, thiserror::Error)]
#[error("research/universe.json: {0}")]
pub struct BadUniverse(String);

impl Universe {
    /// The stocks of a file's text.
    pub fn parse(text: &str) -> Result<Self, BadUniverse> {
        let file: File = serde_json::from_str(text).map_err(|error| BadUniverse(error.to_string()))?;
        let recorded_at = DateTime::parse_from_rfc3339(&file.recorded_at)
            .map_err(|error| BadUniverse(format!("recorded_at: {error}")))?
            .with_timezone(&Utc);
        let stocks = file.stocks.into_iter().map(|stock| (stock.symbol.clone(), stock)).collect();
        Ok(Self { recorded_at, stocks })
    }

    /// The instant for which the embedded data was recorded.
    pub fn recorded_at(&self) -> SystemTime {
        self.recorded_at.into()
    }

    /// Every stock, in order of symbol.
    pub fn stocks(&self) -> impl Iterator<Item = &Stock> {
        self.stocks.values()
    }

    /// The stock of a symbol.
    pub fn get(&self, symbol: &str) -> Option<&Stock> {
        self.stocks.get(symbol)
    }

    /// The stock that a text names: by symbol, or by the whole name or its beginning, ignoring case.
    pub fn named(&self, text: &str) -> Option<&Stock> {
        let text = text.trim();
        self.get(&normal(text)).or_else(|| {
            let text = text.to_lowercase();
            self.stocks().find(|stock| stock.name.to_lowercase().starts_with(&text))
        })
    }

    /// The symbols nearest to one that is not known, by the symbol or the name, nearest first.
    pub fn near(&self, symbol: &str) -> Vec<&str> {
        let wanted = symbol.to_lowercase();
        let likeness = |stock: &Stock| {
            let by = |text: &str| strsim::jaro_winkler(&wanted, &text.to_lowercase());
            by(&stock.symbol).max(by(&stock.name))
        };
        let mut near: Vec<_> = self.stocks().map(|stock| (likeness(stock), stock.symbol.as_str())).collect();
        near.retain(|(likeness, _)| *likeness >= NEAR);
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        near.into_iter().take(MAX_NEAR).map(|(_, symbol)| symbol).collect()
    }

    /// The sentence that says that a symbol is not known, naming near ones.
    pub fn unknown(&self, symbol: &str) -> String {
        // It may have come from a model that read something bad.
        let symbol = &*text::title(symbol);
        match self.near(symbol).as_slice() {
            [] => {
                format!("Unknown symbol '{symbol}'. Give the NSE symbol without a suffix, such as RELIANCE.")
            }
            near => format!("Unknown symbol '{symbol}'. Did you mean {}?", near.join(", ")),
        }
    }
}

/// A symbol as exchanges write it: upper case, without spaces around it and without an exchange's suffix.
pub fn normal(symbol: &str) -> String {
    let symbol = symbol.trim().to_uppercase();
    [".NS", ".BO"].iter().find_map(|suffix| symbol.strip_suffix(suffix)).unwrap_or(&symbol).to_owned()
}
