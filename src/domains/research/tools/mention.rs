//! Whether a text mentions a stock: by the name of its company, or by its symbol.
//!
//! A symbol that is unknown, or an ordinary word too, counts only in a form that denotes a ticker: `$IDEA`, `NSE:IDEA`,
//! `IDEA.NS`, or in capitals in a line that has small letters as well. If the name of its company begins with that
//! word, it counts as a name too (`Eternal`). Any other known symbol counts in every form.

use super::naming::{Likeness, Naming};

/// Known symbols and one-word names that are ordinary words in English, or in the English of India.
pub(crate) const ORDINARY: [&str; 6] = ["BEL", "CAMS", "ETERNAL", "HAL", "IDEA", "TITAN"];

/// Whether a text mentions a stock.
pub(crate) fn mentions(naming: &Naming, text: &str) -> bool {
    let is_whole_name = naming.name.contains(' ') && naming.in_title(text) == Some(Likeness::Name);
    let ticker = naming.symbol.as_deref().unwrap_or(&naming.name);
    let mut tickers = vec![ticker];
    if !naming.name.contains(' ') {
        tickers.push(&naming.name);
    }
    is_whole_name || text.lines().any(|line| tickers.iter().any(|ticker| has(line, ticker, naming)))
}

fn has(line: &str, ticker: &str, naming: &Naming) -> bool {
    // Upper case in ASCII keeps every place where it is.
    let (upper, ticker) = (line.to_ascii_uppercase(), ticker.to_ascii_uppercase());
    upper.match_indices(&ticker).any(|(at, _)| {
        let (before, after) = (&upper[..at], &upper[at + ticker.len()..]);
        let is_word = !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric);
        let is_ticker = before.ends_with('$') || before.ends_with("NSE:") || after.starts_with(".NS");
        let is_told_apart = naming.symbol.is_some() && !ORDINARY.contains(&ticker.as_str());
        is_word && (is_ticker || is_told_apart || stands_out(line, &line[at..at + ticker.len()], naming))
    })
}

/// Whether a word is written as no ordinary one is: in capitals among small letters, or as the beginning of a name.
fn stands_out(line: &str, word: &str, naming: &Naming) -> bool {
    let is_small = |c: char| c.is_lowercase();
    let in_capitals = !word.contains(is_small) && line.contains(is_small);
    let name_begins = naming.symbol.is_some() && naming.name.split(' ').next() == Some(word);
    in_capitals || (name_begins && word.contains(is_small))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::universe::words;

    fn known(symbol: &str, name: &str) -> Naming {
        let longer = vec![words("Mahindra & Mahindra Financial Services")];
        Naming { symbol: Some(symbol.to_owned()), name: name.to_owned(), longer }
    }

    #[test]
    fn an_ordinary_word_is_a_mention_only_in_a_form_that_denotes_a_ticker() {
        let the = Naming { symbol: None, name: "THE".to_owned(), longer: Vec::new() };
        let idea = known("IDEA", "Vodafone Idea");
        for (naming, text, is_one) in [
            (&the, "The market fell on the news", false),
            (&the, "THE MARKET IS CRASHING", false),
            (&the, "THE MARKET IS CRASHING\nAnd the rest follows", false),
            (&the, "Bought $the today", true),
            (&the, "nse:the looks cheap, the.ns too", true),
            (&the, "I hold THE since June", true),
            (&the, "I hold THEM since June, and BREATHE", false),
            (&idea, "A good idea, or no Idea at all?", false),
            (&idea, "Why is IDEA falling?", true),
            (&idea, "vodafone idea raises money", true),
            (&idea, "idea.ns", true),
        ] {
            assert_eq!(mentions(naming, text), is_one, "{text}");
        }
    }

    #[test]
    fn a_known_stock_is_mentioned_however_it_is_written() {
        for (symbol, name, text, is_one) in [
            ("RELIANCE", "Reliance Industries", "reliance fell again", true),
            ("RELIANCE", "Reliance Industries", "SOLD ALL MY RELIANCE", true),
            ("INFY", "Infosys", "infosys or tcs?", true),
            ("M&M", "Mahindra & Mahindra", "Exited m&m, here is why", true),
            ("M&M", "Mahindra & Mahindra", "Why M&MFIN?", false),
            ("M&M", "Mahindra & Mahindra", "Why is Mahindra & Mahindra Financial Services rising?", false),
            (
                "M&M",
                "Mahindra & Mahindra",
                "Mahindra and Mahindra Financial Services, or Mahindra & Mahindra?",
                true,
            ),
            ("M&MFIN", "Mahindra & Mahindra Financial Services", "Why M&MFIN?", true),
            ("BAJAJ-AUTO", "Bajaj Auto", "Exited BAJAJ-AUTO", true),
            ("LT", "Larsen & Toubro", "Larsen and Toubro's order book", true),
            ("LT", "Larsen & Toubro", "an altered text", false),
            ("ETERNAL", "Eternal", "Why is Eternal falling?", true),
            ("ETERNAL", "Eternal", "an eternal question", false),
            ("TITAN", "Titan Company", "Titan is expensive", true),
            ("DIXON", "Dixon Technologies (India)", "Dixon Technologies (India) results", true),
        ] {
            assert_eq!(mentions(&known(symbol, name), text), is_one, "{symbol}: {text}");
        }
    }
}
