//! How people write of a stock: by its symbol or by the name of its company, in whatever case and without `Ltd`.

use crate::domains::research::sources::universe::{Stock, Universe};

/// Words that say nothing of which company it is.
const FILLERS: [&str; 5] = ["and", "company", "limited", "ltd", "the"];

/// A stock as texts name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Naming {
    /// Its symbol, if it is a known one.
    pub(super) symbol: Option<String>,
    /// The name of its company, or what was asked for.
    pub(super) name: String,
}

/// How well a title names a stock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    /// By the symbol.
    Symbol,
    /// By the name.
    Name,
}

impl Naming {
    /// What a text names: a stock of the universe, or something not known by that name.
    pub(super) fn of(text: &str, universe: &Universe) -> Self {
        universe
            .named(text)
            .map_or_else(|| Self { symbol: None, name: text.trim().to_owned() }, Self::of_stock)
    }

    fn of_stock(stock: &Stock) -> Self {
        Self { symbol: Some(stock.symbol.clone()), name: stock.name.clone() }
    }

    /// What to search for: the name, and where that is another word, the symbol.
    pub(super) fn words(&self) -> Vec<&str> {
        let symbol = self.symbol.as_deref().filter(|symbol| !symbol.eq_ignore_ascii_case(&self.name));
        std::iter::once(self.name.as_str()).chain(symbol).collect()
    }

    /// How well a title names the stock; `None` if it does not.
    pub(super) fn in_title(&self, title: &str) -> Option<Likeness> {
        let title = words(title);
        let has = |text: &str| {
            let wanted = words(text);
            !wanted.is_empty() && title.windows(wanted.len()).any(|window| window == wanted)
        };
        if has(&self.name) {
            return Some(Likeness::Name);
        }
        self.symbol.as_deref().is_some_and(has).then_some(Likeness::Symbol)
    }
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| !word.is_empty() && !FILLERS.contains(&word.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn universe() -> Universe {
        Universe::parse(
            r#"{"recorded_at": "2026-01-16T10:00:00Z", "stocks": [
                {"symbol": "LT", "name": "Larsen & Toubro", "sector": "Construction"},
                {"symbol": "TATAMOTORS", "name": "Tata Motors", "sector": "Automobiles"}]}"#,
        )
        .unwrap()
    }

    #[test]
    fn a_title_names_a_stock_by_its_name_or_its_symbol_as_whole_words() {
        let larsen = Naming::of("lt", &universe());
        assert_eq!(larsen.words(), ["Larsen & Toubro", "LT"]);
        assert_eq!(larsen.in_title("Larsen and Toubro Ltd: order book"), Some(Likeness::Name));
        assert_eq!(larsen.in_title("LT - engineering"), Some(Likeness::Symbol));
        assert_eq!(larsen.in_title("Alternative funds"), None);
        assert_eq!(Naming::of("Tata Motors", &universe()).in_title("Tata Power"), None);
    }

    #[test]
    fn what_is_not_known_is_looked_for_as_it_was_written() {
        let naming = Naming::of(" Unknown Mills Ltd ", &universe());
        assert_eq!(naming.words(), ["Unknown Mills Ltd"]);
        assert_eq!(naming.in_title("Unknown Mills, a turnaround"), Some(Likeness::Name));
    }
}
