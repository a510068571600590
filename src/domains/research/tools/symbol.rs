//! The symbol that a tool is asked about: in its normal form, and refused with near ones where nobody knows it.

use super::required;
use crate::{
    context::{Required, ToolContext, Unfinished},
    contract::ToolError,
    domains::research::sources::universe::{Universe, normal},
    upstream::http::{Failure, FailureKind},
};

/// Longer than any symbol of an exchange.
const MAX_LENGTH: usize = 32;

/// What everything here needs.
pub(super) fn services() -> Required {
    Required::none().of::<Universe>()
}

/// The symbol of an argument. What can be none is not worth a request.
pub(super) fn of(value: Option<&str>, context: &ToolContext) -> Result<String, ToolError> {
    one(required("symbol", value)?, context)
}

/// The symbols of an argument, each once.
pub(super) fn all(values: &[String], context: &ToolContext) -> Result<Vec<String>, ToolError> {
    let mut symbols = Vec::with_capacity(values.len());
    for value in values {
        let symbol = one(value, context)?;
        if !symbols.contains(&symbol) {
            symbols.push(symbol);
        }
    }
    Ok(symbols)
}

/// The failure of a source that was asked about a symbol: one that it does not know is answered with near ones.
pub(super) fn explained(failure: Failure, symbol: &str, context: &ToolContext) -> Unfinished {
    if failure.kind != FailureKind::NotFound {
        return failure.into();
    }
    let universe = context.services.get::<Universe>();
    let words = if universe.get(symbol).is_some() {
        let source = failure.source_title;
        format!(
            "{source} has no data of {symbol}: it may be suspended, renamed or delisted. Go on without it."
        )
    } else {
        universe.unknown(symbol)
    };
    failure.saying(words).into()
}

fn one(text: &str, context: &ToolContext) -> Result<String, ToolError> {
    let symbol = normal(text);
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'&' | b'-' | b'_' | b'.');
    if (1..=MAX_LENGTH).contains(&symbol.len()) && symbol.bytes().all(is_part) {
        return Ok(symbol);
    }
    let universe = context.services.get::<Universe>();
    // Maybe a name: then its symbol is known.
    let words = match universe.named(text).filter(|_| !symbol.is_empty()) {
        Some(stock) => format!("'{}' is no symbol. Did you mean {}?", text.trim(), stock.symbol),
        None => universe.unknown(text.trim()),
    };
    Err(ToolError::not_found(words))
}
