//! The mood of a text by a small list of finance words, and stated as such: `method: "lexicon"`.
//!
//! No model: irony, comparisons and numbers escape it, and in doubt it says neutral. A word behind a negation counts
//! for its opposite, what rises is good unless it is a burden such as debt, and a question says nothing. Not here: that
//! a text which gives orders has no mood (`outside`).

mod words;

use self::words::{BURDENS, CONTRASTS, FALLS, NEGATIONS, NEGATIVE, PHRASES, POSITIVE, QUESTIONS, RISES};
use super::figure::round;
use crate::proto::v1::Sentiment;
use toolwire_sources::upstream::orders;

/// What to say beside moods.
pub(super) const CAVEAT: &str =
    "The mood counts words of a list and understands nothing: read the texts before relying on it.";
/// How moods are found.
const METHOD: &str = "lexicon";
/// Number of words behind a negation that are turned into their opposite. Whether later ones in its clause are is in
/// doubt, so they do not count.
const REACH: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub(super) enum Mood {
    Positive,
    Neutral,
    Negative,
}

impl Mood {
    /// The mood of a text: that of most of its words that have one.
    pub(super) fn of(text: &str) -> Self {
        match balance(text) {
            0 => Self::Neutral,
            1.. => Self::Positive,
            _ => Self::Negative,
        }
    }
}

/// The mood of several texts together; `None` without texts.
pub(super) fn together(moods: impl IntoIterator<Item = Mood>) -> Option<Sentiment> {
    let mut sentiment = Sentiment { method: METHOD.to_owned(), ..Sentiment::default() };
    for mood in moods {
        match mood {
            Mood::Positive => sentiment.positive += 1,
            Mood::Neutral => sentiment.neutral += 1,
            Mood::Negative => sentiment.negative += 1,
        }
    }
    let all = sentiment.positive + sentiment.neutral + sentiment.negative;
    sentiment.score = round(f64::from(sentiment.positive - sentiment.negative) / f64::from(all));
    (all > 0).then_some(sentiment)
}

/// Positive less negative words, of what is stated.
fn balance(text: &str) -> i32 {
    orders::sentences(text).filter(|sentence| !is_question(sentence)).map(leaning).sum()
}

/// Whether a sentence asks: by the mark at its end, or by how it begins.
fn is_question(sentence: &str) -> bool {
    let is_marked = sentence.chars().rev().take_while(|c| !c.is_alphanumeric()).any(|c| c == '?');
    is_marked || sentence.split_whitespace().next().is_some_and(|first| is_in(QUESTIONS, &word(first)))
}

/// Positive less negative words of a sentence.
fn leaning(sentence: &str) -> i32 {
    let tokens: Vec<_> = sentence.split_whitespace().collect();
    let words: Vec<_> = tokens.iter().map(|token| word(token)).collect();
    // How many words ago the clause was negated, and where it began.
    let (mut negated, mut clause): (Option<usize>, usize) = (None, 0);
    let (mut leaning, mut at) = (0, 0);
    while at < words.len() {
        let (worth, count) = score_at(&words[clause..], at - clause);
        leaning += match negated {
            None => worth,
            Some(ago) if ago < REACH => -worth,
            Some(_) => 0,
        };
        let last = at + count - 1;
        let word = words[last].as_str();
        let ends_clause = tokens[last].ends_with(['.', ',', ';', ':', '!', '?']) || is_in(CONTRASTS, word);
        at += count;
        negated = match negated {
            _ if ends_clause => None,
            // `not only`, and `not without`.
            Some(0) if word == "only" || is_in(NEGATIONS, word) => None,
            _ if is_in(NEGATIONS, word) => Some(0),
            ago => ago.map(|ago| ago + count),
        };
        clause = if ends_clause { at } else { clause };
    }
    leaning
}

/// A word as the lists have it.
fn word(token: &str) -> String {
    token.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().replace('’', "'")
}

/// The score of the phrase at an index of a clause, and the number of its words.
fn score_at(clause: &[String], at: usize) -> (i32, usize) {
    let phrase = PHRASES.iter().find(|(phrase, _)| {
        let mut rest = clause[at..].iter();
        phrase.split(' ').all(|word| rest.next().is_some_and(|it| it == word))
    });
    if let Some((phrase, worth)) = phrase {
        return (*worth, phrase.split(' ').count());
    }
    let word = clause[at].as_str();
    let direction = i32::from(is_in(RISES, word)) - i32::from(is_in(FALLS, word));
    let moved = if is_of_burden(clause, at) { -direction } else { direction };
    (i32::from(is_in(POSITIVE, word)) - i32::from(is_in(NEGATIVE, word)) + moved, 1)
}

/// Whether what goes up or down at a place is a burden: `receivables rose`, `a rise in debt`.
fn is_of_burden(clause: &[String], at: usize) -> bool {
    let is_burden = |word: &String| is_in(BURDENS, word);
    let before = clause[..at].iter().rev().take(REACH).take_while(|word| *word != "and");
    let is_followed = clause.get(at + 1).is_some_and(|word| matches!(word.as_str(), "in" | "of"));
    let behind = clause.iter().skip(at + 2).take(if is_followed { REACH - 1 } else { 0 });
    before.chain(behind).any(is_burden)
}

/// Whether a word is in a list, which is in order.
fn is_in(list: &[&str], word: &str) -> bool {
    list.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mood_is_that_of_most_words() {
        assert_eq!(Mood::of("Strong and profitable, though some risk."), Mood::Positive);
        assert_eq!(Mood::of("Margins fell; promoters PLEDGED shares!"), Mood::Negative);
        assert_eq!(Mood::of("Results are due on Friday"), Mood::Neutral);
        assert_eq!(Mood::of("good but expensive"), Mood::Neutral);
        assert_eq!(Mood::of(""), Mood::Neutral);
    }

    #[test]
    fn a_negation_turns_the_words_behind_it_into_their_opposite() {
        assert_eq!(Mood::of("This is not a good company"), Mood::Negative);
        assert_eq!(Mood::of("I don’t see any risk"), Mood::Positive);
        assert_eq!(Mood::of("No, it is a strong business"), Mood::Positive, "no further than the clause");
        assert_eq!(
            Mood::of("not that the market as a whole was strong"),
            Mood::Neutral,
            "beyond its reach it is unknown"
        );
        assert_eq!(Mood::of("not only strong but cheap"), Mood::Positive);
        assert_eq!(Mood::of("It is not without risk"), Mood::Negative);
        assert_eq!(Mood::of("neither good nor cheap"), Mood::Negative);
        assert_eq!(Mood::of("There isn't any growth, however it is cheap and solid"), Mood::Positive);
        assert_eq!(Mood::of("Nobody expects a recovery"), Mood::Negative);
    }

    #[test]
    fn what_is_said_in_several_words_or_of_a_burden_is_taken_together() {
        for (text, mood) in [
            (
                "Working capital is stretched and receivables rose. A red flag that needs an answer.",
                Mood::Negative,
            ),
            ("Receivables rose", Mood::Negative),
            ("A sharp rise in debt", Mood::Negative),
            ("Debt fell and revenue grew", Mood::Positive),
            ("Revenue rose, costs fell", Mood::Positive),
            ("With the present growth I find the price full but not absurd.", Mood::Neutral),
            ("I have trimmed my position.", Mood::Negative),
            ("It worries me and the valuation leaves no margin of safety.", Mood::Negative),
            ("There is a margin of safety", Mood::Positive),
            ("I get 1,604 with 18% growth and no re-rating.", Mood::Negative),
            ("Added more at these levels.", Mood::Positive),
            (
                "It is playing out faster than I expected, and the downside looks limited from here.",
                Mood::Positive,
            ),
            ("I see no red flags", Mood::Positive),
            ("Not convinced.", Mood::Negative),
        ] {
            assert_eq!(Mood::of(text), mood, "{text}");
        }
    }

    #[test]
    fn a_question_says_nothing() {
        for question in [
            "Is this a good company?",
            "Strong buy???",
            "Should I sell before the crash",
            "How can anyone call this cheap and undervalued",
            "Is it overvalued?! What a risk?",
        ] {
            assert_eq!(Mood::of(question), Mood::Neutral, "{question}");
        }
        assert_eq!(Mood::of("Strong growth and margins improve. Is it too expensive?"), Mood::Positive);
    }

    #[test]
    fn several_moods_are_counted_and_their_score_is_bounded() {
        let sentiment = together([Mood::Positive, Mood::Positive, Mood::Negative, Mood::Neutral]).unwrap();
        assert_eq!((sentiment.positive, sentiment.neutral, sentiment.negative), (2, 1, 1));
        assert!((sentiment.score - 0.25).abs() < 1e-12);
        assert_eq!(sentiment.method, "lexicon");
        assert_eq!(together([]), None);
    }

    #[test]
    fn the_lists_are_in_order_and_no_word_is_on_both_sides() {
        let lists = [POSITIVE, NEGATIVE, RISES, FALLS, BURDENS, NEGATIONS, QUESTIONS, CONTRASTS];
        assert!(lists.iter().all(|list| list.is_sorted()));
        assert!(POSITIVE.iter().all(|word| !NEGATIVE.contains(word) && !NEGATIONS.contains(word)));
        assert!(NEGATIVE.iter().all(|word| !NEGATIONS.contains(word)));
    }
}
