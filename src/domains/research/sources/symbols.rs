//! Decides which symbols can be watched: known ones, or, with live sources, everything in the form of a symbol.

use std::sync::Arc;

use super::universe::Universe;

/// Maximum length of a symbol, a few characters more than the longest of the exchanges.
const MAX_LENGTH: usize = 20;

/// Which symbols can be watched.
#[derive(Clone, Debug)]
pub enum Symbols {
    /// Those of the universe: the sources are embedded and know no others.
    Known(Arc<Universe>),
    /// Others too: the sources are live.
    Open(Arc<Universe>),
}

impl Symbols {
    /// The stocks that are known by name.
    pub fn universe(&self) -> &Universe {
        let (Self::Known(universe) | Self::Open(universe)) = self;
        universe
    }

    /// The name of a symbol, where it is known. Refused in words for the agent where it can be none.
    pub fn name(&self, symbol: &str) -> Result<Option<&str>, String> {
        let universe = self.universe();
        match (universe.get(symbol), self) {
            (Some(stock), _) => Ok(Some(&stock.name)),
            (None, Self::Open(_)) if looks_like_one(symbol) => Ok(None),
            (None, _) => Err(universe.unknown(symbol)),
        }
    }
}

/// Whether a text could be a symbol of the National Stock Exchange, such as `M&M` or `BAJAJ-AUTO`.
fn looks_like_one(text: &str) -> bool {
    let is_allowed = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b"&-".contains(&b);
    (1..=MAX_LENGTH).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn universe() -> Arc<Universe> {
        let text = r#"{"recorded_at": "2026-01-16T10:00:00Z", "stocks": [
            {"symbol": "RELIANCE", "name": "Reliance Industries", "sector": "Energy"}]}"#;
        Arc::new(Universe::parse(text).unwrap())
    }

    #[test]
    fn embedded_sources_know_the_universe_and_name_what_is_near() {
        let symbols = Symbols::Known(universe());
        assert_eq!(symbols.name("RELIANCE"), Ok(Some("Reliance Industries")));
        assert_eq!(symbols.name("RELIANC").unwrap_err(), "Unknown symbol 'RELIANC'. Did you mean RELIANCE?");
    }

    #[test]
    fn live_sources_may_know_whatever_looks_like_a_symbol() {
        let symbols = Symbols::Open(universe());
        assert_eq!(symbols.name("RELIANCE"), Ok(Some("Reliance Industries")));
        for likely in ["M&M", "BAJAJ-AUTO", "3MINDIA", "532540"] {
            assert_eq!(symbols.name(likely), Ok(None), "{likely}");
        }
        for unlikely in ["", "-", "A B", "tcs", "ÄÖ", "A/B", &"A".repeat(21)] {
            assert!(symbols.name(unlikely).is_err(), "{unlikely:?}");
        }
    }
}
