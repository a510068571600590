//! How people write of a stock: by its symbol or by the name of its company, in whatever case and without `Ltd`.

use crate::sources::universe::{Stock, Universe, words};

/// A stock as texts name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Naming {
    /// Its symbol, if it is a known one.
    pub(crate) symbol: Option<String>,
    /// The name of its company, or the text of the request.
    pub(super) name: String,
    /// The words of other companies' names of which this one is a part: the longest name wins.
    pub(super) longer: Vec<Vec<String>>,
}

/// How well a title names a stock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    Symbol,
    Name,
}

impl Naming {
    pub(crate) fn of_stock(stock: &Stock, universe: &Universe) -> Self {
        let symbol = Some(stock.symbol.clone());
        Self { symbol, name: stock.name.clone(), longer: universe.longer_names(&stock.name) }
    }

    /// Something that is not known, looked for as it is written. In addresses words stand with hyphens between them.
    pub(super) fn of_text(text: &str) -> Self {
        Self { symbol: None, name: text.trim().replace('-', " "), longer: Vec::new() }
    }

    /// What to search for: the name, and where that is another word, the symbol.
    pub(super) fn words(&self) -> Vec<&str> {
        let symbol = self.symbol.as_deref().filter(|symbol| !symbol.eq_ignore_ascii_case(&self.name));
        std::iter::once(self.name.as_str()).chain(symbol).collect()
    }

    /// How well a title names the stock; `None` if it does not. A single unknown word names it only at its beginning,
    /// where titles say what they are about.
    pub(super) fn in_title(&self, title: &str) -> Option<Likeness> {
        let mut title = words(title);
        for name in &self.longer {
            while let Some(at) = title.windows(name.len()).position(|window| window == name) {
                // Something is left between the words on both sides.
                title.splice(at..at + name.len(), [String::new()]);
            }
        }
        let has = |text: &str| match &words(text)[..] {
            [] => false,
            [word] if self.symbol.is_none() => title.first() == Some(word),
            wanted => title.windows(wanted.len()).any(|window| window == wanted),
        };
        if has(&self.name) {
            return Some(Likeness::Name);
        }
        self.symbol.as_deref().is_some_and(has).then_some(Likeness::Symbol)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stock(symbol: &str, name: &str) -> Naming {
        Naming { symbol: Some(symbol.to_owned()), name: name.to_owned(), longer: Vec::new() }
    }

    #[test]
    fn a_title_names_a_stock_by_its_name_or_its_symbol_as_whole_words() {
        let larsen = stock("LT", "Larsen & Toubro");
        assert_eq!(larsen.words(), ["Larsen & Toubro", "LT"]);
        assert_eq!(larsen.in_title("Larsen and Toubro Ltd: order book"), Some(Likeness::Name));
        assert_eq!(larsen.in_title("LT - engineering"), Some(Likeness::Symbol));
        assert_eq!(larsen.in_title("Alternative funds"), None);
        assert_eq!(stock("TATAMOTORS", "Tata Motors").in_title("Tata Power"), None);
    }

    #[test]
    fn what_is_not_known_is_looked_for_as_it_was_written() {
        let naming = Naming::of_text(" Unknown Mills Ltd ");
        assert_eq!(naming.words(), ["Unknown Mills Ltd"]);
        assert_eq!(naming.in_title("Unknown Mills, a turnaround"), Some(Likeness::Name));
        assert_eq!(naming.in_title("Why I like Unknown Mills"), Some(Likeness::Name));
        assert_eq!(Naming::of_text("a-topic-s-slug").words(), ["a topic s slug"]);
    }

    #[test]
    fn a_lone_unknown_word_is_found_at_the_beginning_of_a_title_only() {
        let it = Naming::of_text("IT");
        assert_eq!(it.in_title("IT services: what next?"), Some(Likeness::Name));
        assert_eq!(it.in_title("Is it time to sell?"), None);
    }
}
