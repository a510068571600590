//! The symbol that a tool is asked about: in its one form, and refused with suggestions where it is unknown.

use serde_json::Value;

use super::{reject, required};
use crate::sources::universe::{StockMatch, Universe, normal};
use toolwire_contract::{ToolError, arguments::Arguments};
use toolwire_sources::upstream::http::{Failure, FailureKind};
use toolwire_tool::context::{Required, Services, ToolContext, Unfinished};

/// Longer than any symbol of an exchange.
const MAX_LENGTH: usize = 32;

/// The suffix of a symbol of the Bombay Stock Exchange at other services.
const BSE_SUFFIX: &str = ".BO";
/// The prefix of such a symbol at other services.
const BSE_PREFIX: &str = "BSE:";

/// The symbols of an argument.
#[derive(Debug, Default)]
pub(super) struct SymbolList {
    /// The texts that may be symbols, each once.
    pub(super) symbols: Vec<String>,
    /// The texts that cannot be symbols, as they were written, each with its message.
    pub(super) unknown: Vec<(String, String)>,
}

/// What everything here needs.
pub(super) fn services() -> Required {
    Required::none().of::<Universe>()
}

/// Brings the parameters `symbol`, `symbols` and `query` into one form: the symbol of the stock that they name. A text
/// that names no known stock is merely spelt as symbols are, since a live source may know it; a query stays as it is.
pub(super) fn normalize(arguments: &mut Arguments, services: &Services) {
    let universe = services.find::<Universe>();
    let named = |text: &str| match universe.as_ref()?.find_named(text) {
        StockMatch::One(stock) => Some(stock.symbol.clone()),
        StockMatch::PartOf(_) | StockMatch::Nothing => None,
    };
    let put = |value: &mut Value, is_symbol: fn(&str) -> bool| {
        let Value::String(text) = value else { return };
        *text = named(text).unwrap_or_else(|| match normal(text) {
            symbol if is_symbol(&symbol) => symbol,
            _ => text.trim().to_owned(),
        });
    };
    for (key, value) in arguments {
        match (key.as_str(), value) {
            ("symbol", value) => put(value, looks_like_one),
            ("symbols", Value::Array(values)) => {
                for value in values {
                    put(value, looks_like_one);
                }
            }
            ("query", value) => put(value, |_| false),
            _ => {}
        }
    }
}

/// The symbol of an argument. What can be none is not worth a request.
pub(super) fn of(value: Option<&str>, context: &ToolContext) -> Result<String, ToolError> {
    read("symbol", required("symbol", value)?, &context.services.get::<Universe>())
}

/// The symbols of the argument `symbols`. Fails if none can be one.
pub(super) fn all(values: &[String], context: &ToolContext) -> Result<SymbolList, ToolError> {
    let universe = context.services.get::<Universe>();
    let mut several = SymbolList::default();
    for (index, value) in values.iter().enumerate() {
        match read(&format!("symbols/{index}"), value, &universe) {
            Ok(symbol) if several.symbols.contains(&symbol) => {}
            Ok(symbol) => several.symbols.push(symbol),
            Err(error) if error.violations.is_empty() => {
                several.unknown.push((value.trim().to_owned(), error.message));
            }
            Err(error) => return Err(error),
        }
    }
    if several.symbols.is_empty() { Err(none_known(several.unknown)) } else { Ok(several) }
}

/// The failure where nothing is known of any symbol.
pub(super) fn none_known(unknown: impl IntoIterator<Item = (String, String)>) -> ToolError {
    let words: Vec<_> = unknown.into_iter().map(|(_, words)| words).collect();
    ToolError::not_found(words.join(" "))
}

/// The symbol that a text names, or that it may be.
pub(super) fn read(parameter: &str, text: &str, universe: &Universe) -> Result<String, ToolError> {
    let named = universe.find_named(text);
    if let StockMatch::One(stock) = named {
        return Ok(stock.symbol.clone());
    }
    refuse_several(parameter, text, universe)?;
    if matches!(&named, StockMatch::PartOf(some) if some.len() > 1) {
        return Err(ToolError::not_found(universe.unknown(text)));
    }
    refuse_bse(parameter, text)?;
    let symbol = normal(text);
    if looks_like_one(&symbol) {
        return Ok(symbol);
    }
    Err(ToolError::not_found(universe.unknown(text.trim())))
}

/// As [`of`], for a tool whose answer `compare_stocks` gives for several.
pub(super) fn of_comparable(value: Option<&str>, context: &ToolContext) -> Result<String, ToolError> {
    let universe = context.services.get::<Universe>();
    let next = "Call once for each, or compare the stocks to see them side by side";
    refuse("symbol", required("symbol", value)?, next, &universe)?;
    of(value, context)
}

/// Refuses a list of symbols: with commas, or of known ones with whatever people write between.
pub(super) fn refuse_several(parameter: &str, text: &str, universe: &Universe) -> Result<(), ToolError> {
    let is_element = parameter.starts_with("symbols/");
    let next = if is_element { "Give each as an element of its own" } else { "Call once for each" };
    refuse(parameter, text, next, universe)
}

fn refuse(parameter: &str, text: &str, next: &str, universe: &Universe) -> Result<(), ToolError> {
    if matches!(universe.find_named(text), StockMatch::One(_)) {
        return Ok(());
    }
    let parts = |separator: fn(char) -> bool| {
        let parts = text.split(separator).map(normal);
        parts.filter(|part| looks_like_one(part) && !matches!(part.as_str(), "AND" | "&")).collect::<Vec<_>>()
    };
    let listed = parts(|c| matches!(c, ',' | ';'));
    let apart = parts(|c| c.is_whitespace() || matches!(c, ',' | ';' | '/' | '|' | '+'));
    let are_known = apart.iter().all(|symbol| universe.get(symbol).is_some());
    let symbols = match (listed.len(), apart.len()) {
        (_, 2..) if are_known => apart,
        // What is searched for may be a sentence.
        (2.., _) if parameter != "query" => listed,
        _ => return Ok(()),
    };
    let words = format!(
        "`{parameter}` takes one symbol, and {} are {}. {next}.",
        symbols.join(" and "),
        symbols.len()
    );
    Err(reject(parameter, "one", words))
}

/// Refuses what is written as a symbol of the Bombay Stock Exchange.
pub(super) fn refuse_bse(parameter: &str, text: &str) -> Result<(), ToolError> {
    let symbol = normal(text);
    let bare =
        symbol.strip_suffix(BSE_SUFFIX).or_else(|| symbol.strip_prefix(BSE_PREFIX).map(str::trim_start));
    let Some(bare) = bare.filter(|bare| looks_like_one(bare)) else { return Ok(()) };
    let words = format!(
        "'{symbol}' is traded on the BSE, which is not asked here: its prices are others. Give '{bare}' for the National \
         Stock Exchange."
    );
    Err(reject(parameter, "exchange", words))
}

fn looks_like_one(symbol: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'&' | b'-' | b'_' | b'.');
    (1..=MAX_LENGTH).contains(&symbol.len()) && symbol.bytes().all(is_part)
}

/// What to say of a search for a symbol that is not known: nothing found says nothing of a stock, and what is found may
/// be about something else. No failure as elsewhere, since the site that is searched knows no list of symbols either.
pub(super) fn doubt(symbol: &str, context: &ToolContext) -> Option<String> {
    let universe = context.services.get::<Universe>();
    let is_unknown = universe.get(symbol).is_none();
    is_unknown.then(|| {
        format!(
            "{} It was looked for as it is written, so an empty answer says nothing of it.",
            universe.unknown(symbol)
        )
    })
}

/// The failure of a source that was asked about a symbol: one that it does not know is answered with near ones.
pub(super) fn explain(failure: Failure, symbol: &str, context: &ToolContext) -> Unfinished {
    // One that says itself what is missing need not mean the symbol.
    if failure.kind != FailureKind::NotFound || failure.message.is_some() {
        return failure.into();
    }
    let universe = context.services.get::<Universe>();
    let words = if universe.get(symbol).is_some() {
        let source = failure.source_title;
        format!("{source} has no data of {symbol}: it may be suspended, renamed or delisted.")
    } else {
        universe.unknown(symbol)
    };
    failure.with_message(words).into()
}
