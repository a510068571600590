//! The stocks that are known by name: what a symbol stands for, which stock a text names, and which ones it may mean.
//!
//! A text names a stock by the symbol, by the company's name, or by a beginning of the name that has more than one word
//! and is no other company's. Anything less is a question. Not a limit: a live source may know more.

use std::{collections::BTreeMap, time::SystemTime};

use chrono::{DateTime, Utc};
use serde::Deserialize;

use toolwire_sources::upstream::text::Line;

/// Maximum number of near symbols that are named.
const MAX_NEAR: usize = 3;
/// Maximum number of stocks named as candidates for an ambiguous text.
const MAX_CANDIDATES: usize = 6;
/// Words that say nothing of which company it is.
const FILLERS: [&str; 6] = ["and", "co", "company", "limited", "ltd", "the"];
/// The suffix of a symbol of the National Stock Exchange at other services.
const NSE_SUFFIX: &str = ".NS";
/// The prefix of such a symbol at other services.
const NSE_PREFIX: &str = "NSE:";
/// Minimum similarity of a suggestion (Jaro-Winkler).
const MIN_SIMILARITY: f64 = 0.8;

#[derive(Clone, Debug)]
pub struct Universe {
    recorded_at: DateTime<Utc>,
    stocks: BTreeMap<String, Stock>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Stock {
    /// Symbol on the National Stock Exchange, such as `RELIANCE`.
    pub symbol: String,
    /// Name of the company, such as `Reliance Industries`.
    pub name: String,
    pub sector: String,
}

/// Which stock a text names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StockMatch<'a> {
    One(&'a Stock),
    /// The stocks of whose names the text is an ambiguous part. At least one.
    PartOf(Vec<&'a Stock>),
    /// No known stock.
    Nothing,
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

    pub fn get(&self, symbol: &str) -> Option<&Stock> {
        self.stocks.get(symbol)
    }

    /// Which stock a text names: by symbol, however it is written, or by name. Case and words such as `Ltd` do not
    /// matter.
    pub fn find_named(&self, text: &str) -> StockMatch<'_> {
        let by_symbol = self.get(&normal(text)).or_else(|| {
            let letters = letters(&normal(text));
            let is_it = |stock: &&Stock| {
                self::letters(&stock.symbol) == letters
                    || initials(&stock.name).is_some_and(|it| it == letters)
            };
            self.stocks().find(is_it)
        });
        if let Some(stock) = by_symbol {
            return StockMatch::One(stock);
        }
        let wanted = words(text);
        if wanted.is_empty() {
            return StockMatch::Nothing;
        }
        let all = |fits: &dyn Fn(&[String]) -> bool| -> Vec<_> {
            self.stocks().filter(|stock| fits(&words(&stock.name))).collect()
        };
        if let [stock] = all(&|name| name == wanted)[..] {
            return StockMatch::One(stock);
        }
        match all(&|name| name.starts_with(&wanted))[..] {
            // One word is too often another company's, which is not known here.
            [stock] if wanted.len() > 1 => return StockMatch::One(stock),
            _ => {}
        }
        match all(&|name| wanted.iter().all(|word| name.contains(word))) {
            some if some.is_empty() => StockMatch::Nothing,
            some => StockMatch::PartOf(some),
        }
    }

    /// The words of every company's name that has more words than the given one, which is a part of it.
    pub fn longer_names(&self, name: &str) -> Vec<Vec<String>> {
        let part = words(name);
        let is_longer = |name: &Vec<String>| {
            name.len() > part.len()
                && !part.is_empty()
                && name.windows(part.len()).any(|window| window == part)
        };
        self.stocks().map(|stock| words(&stock.name)).filter(is_longer).collect()
    }

    /// The symbols nearest to one that is not known, by the symbol or the name, nearest first.
    pub fn near(&self, symbol: &str) -> Vec<&str> {
        let wanted = symbol.to_lowercase();
        let likeness = |stock: &Stock| {
            let by = |text: &str| strsim::jaro_winkler(&wanted, &text.to_lowercase());
            by(&stock.symbol).max(by(&stock.name))
        };
        let mut near: Vec<_> = self.stocks().map(|stock| (likeness(stock), stock.symbol.as_str())).collect();
        near.retain(|(likeness, _)| *likeness >= MIN_SIMILARITY);
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        near.into_iter().take(MAX_NEAR).map(|(_, symbol)| symbol).collect()
    }

    /// The sentences that say that a text names no known stock, and what was probably meant.
    pub fn unknown(&self, text: &str) -> String {
        // The text may be injected: a model may have copied it from a page.
        let shown = Line::of(text);
        match self.find_named(text) {
            StockMatch::PartOf(some) if some.len() > 1 => {
                format!("'{shown}' may be one of several stocks. Did you mean {}?", list(&some))
            }
            StockMatch::PartOf(one) => format!("Unknown symbol '{shown}'. Did you mean {}?", list(&one)),
            StockMatch::One(_) | StockMatch::Nothing => match self.near(text).as_slice() {
                [] => {
                    format!(
                        "Unknown symbol '{shown}'. Give the NSE symbol without a suffix, such as RELIANCE."
                    )
                }
                near => format!("Unknown symbol '{shown}'. Did you mean {}?", near.join(", ")),
            },
        }
    }
}

/// `TATAMOTORS (Tata Motors), TATASTEEL (Tata Steel)`.
fn list(stocks: &[&Stock]) -> String {
    let named = stocks.iter().take(MAX_CANDIDATES).map(|it| format!("{} ({})", it.symbol, it.name));
    let named = named.collect::<Vec<_>>().join(", ");
    match stocks.len().saturating_sub(MAX_CANDIDATES) {
        0 => named,
        more => format!("{named} or {more} more"),
    }
}

/// The words of a company's name, or of a text that may hold one, without those that say nothing.
pub fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| !word.is_empty() && !FILLERS.contains(&word.as_str())).collect()
}

/// The characters that distinguish symbols: `BAJAJ AUTO` is `BAJAJ-AUTO`, and `M & M` is `M&M`.
fn letters(text: &str) -> String {
    text.to_uppercase().chars().filter(|c| c.is_alphanumeric() || *c == '&').collect()
}

/// How people shorten a name of two: `L&T` is Larsen & Toubro. Nothing of any other name.
fn initials(name: &str) -> Option<String> {
    let (one, other) = name.split_once(" & ")?;
    Some(format!("{}&{}", one.chars().next()?, other.chars().next()?))
}

/// A symbol as the exchange writes it: upper case, without spaces around it and without the exchange's suffix or
/// prefix. Those of another exchange stay: its prices are others.
pub fn normal(symbol: &str) -> String {
    let symbol = symbol.trim().to_uppercase();
    let symbol = symbol.strip_prefix(NSE_PREFIX).map_or(symbol.as_str(), str::trim_start);
    symbol.strip_suffix(NSE_SUFFIX).unwrap_or(symbol).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundled() -> Universe {
        let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/research/universe.json"));
        Universe::parse(text).unwrap()
    }

    #[test]
    fn a_stock_is_named_by_its_symbol_or_its_name_however_they_are_written() {
        let universe = bundled();
        for (text, symbol) in [
            ("RELIANCE", "RELIANCE"),
            (" reliance ", "RELIANCE"),
            ("TCS.NS", "TCS"),
            ("NSE:TCS", "TCS"),
            ("nse: l&t", "LT"),
            ("L & T", "LT"),
            ("m&m", "M&M"),
            ("M & M", "M&M"),
            ("bajaj auto", "BAJAJ-AUTO"),
            ("Infosys", "INFY"),
            ("Infosys Ltd", "INFY"),
            ("Infosys Ltd.", "INFY"),
            ("Reliance Industries Limited", "RELIANCE"),
            ("the Titan Company", "TITAN"),
            ("Larsen and Toubro", "LT"),
            ("Mahindra & Mahindra", "M&M"),
            ("Dixon Technologies", "DIXON"),
            ("ITC Ltd", "ITC"),
            ("hdfc bank", "HDFCBANK"),
        ] {
            match universe.find_named(text) {
                StockMatch::One(stock) => assert_eq!(stock.symbol, symbol, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn no_stock_is_named_by_accident() {
        let universe = bundled();
        for text in
            ["IT", "in", "", "Ltd", "the company", "RELIANCE.BO", "BSE:TCS", "&", "Nobody Mills", "TATAMOTO"]
        {
            assert_eq!(universe.find_named(text), StockMatch::Nothing, "{text}");
        }
        for (text, candidates) in [
            (
                "bank",
                &["AXISBANK", "HDFCBANK", "ICICIBANK", "INDUSINDBK", "KOTAKBANK", "SBIN", "YESBANK"][..],
            ),
            ("Tata", &["TATAELXSI", "TATAMOTORS", "TATASTEEL", "TCS"]),
            ("Larsen", &["LT"]),
            ("airtel", &["BHARTIARTL"]),
        ] {
            let StockMatch::PartOf(some) = universe.find_named(text) else {
                panic!("{text} names something")
            };
            let some: Vec<_> = some.iter().map(|stock| stock.symbol.as_str()).collect();
            assert_eq!(some, candidates, "{text}");
        }
    }

    #[test]
    fn what_is_not_known_is_answered_with_what_may_be_meant() {
        let universe = bundled();
        for (text, words) in [
            ("RELIANC", "Unknown symbol 'RELIANC'. Did you mean RELIANCE?"),
            ("Larsen", "Unknown symbol 'Larsen'. Did you mean LT (Larsen & Toubro)?"),
            (
                "Tata",
                "'Tata' may be one of several stocks. Did you mean TATAELXSI (Tata Elxsi), TATAMOTORS (Tata Motors), \
                 TATASTEEL (Tata Steel), TCS (Tata Consultancy Services)?",
            ),
            ("QQQQ", "Unknown symbol 'QQQQ'. Give the NSE symbol without a suffix, such as RELIANCE."),
        ] {
            assert_eq!(universe.unknown(text), words, "{text}");
        }
    }
}
