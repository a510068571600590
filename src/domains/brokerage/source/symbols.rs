//! Which symbols a user's data knows, and what to say of one that it does not.

use std::collections::BTreeSet;

use super::{master::Master, rows::Quote, values::Symbol};
use toolwire_contract::ToolError;

/// How many known symbols a message names.
const MAX_NAMED: usize = 40;

impl Master {
    /// The quote of a symbol; none without the section.
    pub fn quote(&self, symbol: &Symbol) -> Option<&Quote> {
        self.quotes().ok()?.rows.iter().find(|quote| quote.symbol == *symbol)
    }

    /// Whether a symbol is held, quoted, or was traded; otherwise the failure that names those that are.
    pub fn check_symbol(&self, symbol: &Symbol) -> Result<(), ToolError> {
        match self.unknown(std::slice::from_ref(symbol)) {
            None => Ok(()),
            Some(words) => Err(ToolError::not_found(words)),
        }
    }

    /// What to say of those among the symbols that are neither held nor quoted and were never traded.
    pub fn unknown(&self, symbols: &[Symbol]) -> Option<String> {
        let unknown: Vec<_> = symbols.iter().filter(|symbol| !self.knows(symbol)).collect();
        if unknown.is_empty() {
            return None;
        }
        let known: BTreeSet<_> = self.symbols().collect();
        let words = unknown.into_iter().map(|symbol| self.unknown_symbol(symbol, &known)).collect::<Vec<_>>();
        Some(format!("{} Known symbols: {}.", words.join(" "), list_names(&known)))
    }

    /// The symbols that a text lists, if it lists several: with commas, or known ones with spaces between.
    pub fn several(&self, text: &str) -> Vec<Symbol> {
        let listed = |separator: fn(char) -> bool| {
            let parts = text.split(separator).filter(|part| !part.trim().is_empty());
            parts.map(Symbol::new).collect::<Vec<_>>()
        };
        let by_commas = listed(|c| matches!(c, ',' | ';'));
        if by_commas.len() > 1 {
            return by_commas;
        }
        let by_spaces = listed(char::is_whitespace);
        let are_known = by_spaces.len() > 1 && by_spaces.iter().all(|symbol| self.knows(symbol));
        if are_known { by_spaces } else { Vec::new() }
    }

    /// Whether the symbol is held, quoted, or was traded.
    pub fn knows(&self, symbol: &Symbol) -> bool {
        self.symbols().any(|known| known == symbol)
    }

    /// The symbols that are quoted, held or were traded, some of them several times.
    fn symbols(&self) -> impl Iterator<Item = &Symbol> {
        let quoted = self.quotes().into_iter().flat_map(|quotes| &quotes.rows).map(|quote| &quote.symbol);
        let held = self.all_positions().map(|position| &position.symbol);
        quoted.chain(held).chain(self.all_trades().map(|trade| &trade.symbol))
    }

    fn unknown_symbol(&self, symbol: &Symbol, known: &BTreeSet<&Symbol>) -> String {
        if let Some(list) = Some(self.several(symbol.as_str())).filter(|several| !several.is_empty()) {
            let list = list.iter().map(Symbol::as_str).collect::<Vec<_>>().join(",");
            return format!("Unknown symbol '{symbol}'. Put commas between several: {list}.");
        }
        match self.of_name(symbol).or_else(|| nearest(symbol, known)) {
            Some(near) => format!("Unknown symbol '{symbol}'. Did you mean '{near}'?"),
            None => format!("Unknown symbol '{symbol}'."),
        }
    }

    /// The symbol of what is held under a name that has the text as a word.
    fn of_name(&self, text: &Symbol) -> Option<&Symbol> {
        let has = |name: &String| {
            name.split(|c: char| !c.is_alphanumeric()).any(|word| word.eq_ignore_ascii_case(text.as_str()))
        };
        self.all_positions().find(|position| position.name.as_ref().is_some_and(has)).map(|it| &it.symbol)
    }
}

/// The known symbol that differs least, if it differs by no more than a slip of the finger or two.
fn nearest<'a>(symbol: &Symbol, known: &BTreeSet<&'a Symbol>) -> Option<&'a Symbol> {
    let allowed = if symbol.as_str().chars().count() > 3 { 2 } else { 1 };
    let distance = |other: &Symbol| strsim::damerau_levenshtein(symbol.as_str(), other.as_str());
    let near = known.iter().copied().map(|other| (distance(other), other));
    near.filter(|(distance, _)| *distance <= allowed).min().map(|(_, other)| other)
}

fn list_names(known: &BTreeSet<&Symbol>) -> String {
    let names: Vec<_> = known.iter().take(MAX_NAMED).map(|symbol| symbol.as_str()).collect();
    match known.len().saturating_sub(MAX_NAMED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}
