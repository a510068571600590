//! The mood of a text by a small list of finance words, and stated as such: `method: "lexicon"`.
//!
//! No model: irony, comparisons and numbers escape it, and in doubt it says neutral. A word behind a negation counts
//! for its opposite, and a question says nothing. Not here: that a text which gives orders has no mood (`outside`).

mod words;

use self::words::{CONTRASTS, NEGATIONS, NEGATIVE, POSITIVE, QUESTIONS};
use super::figure::rounded;
use crate::{domains::research::proto::v1::Sentiment, upstream::orders};

/// How moods are found.
const METHOD: &str = "lexicon";
/// So many words behind a negation are turned into their opposite. Whether those further on in its clause are is in
/// doubt, so they do not count.
const REACH: usize = 3;

/// The mood of one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    /// The word in results.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Positive => "positive",
            Self::Neutral => "neutral",
            Self::Negative => "negative",
        }
    }
}

/// The mood of several texts together.
pub(super) fn together(moods: impl IntoIterator<Item = Mood>) -> Sentiment {
    let mut sentiment = Sentiment { method: METHOD.to_owned(), ..Sentiment::default() };
    for mood in moods {
        match mood {
            Mood::Positive => sentiment.positive += 1,
            Mood::Neutral => sentiment.neutral += 1,
            Mood::Negative => sentiment.negative += 1,
        }
    }
    let all = sentiment.positive + sentiment.neutral + sentiment.negative;
    if all > 0 {
        sentiment.score = rounded(f64::from(sentiment.positive - sentiment.negative) / f64::from(all));
    }
    sentiment
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
    // How many words ago the clause was negated.
    let mut negated: Option<usize> = None;
    let mut leaning = 0;
    for token in sentence.split_whitespace() {
        let word = word(token);
        leaning += match negated {
            None => worth(&word),
            Some(ago) if ago < REACH => -worth(&word),
            Some(_) => 0,
        };
        let ends_clause = token.ends_with(['.', ',', ';', ':', '!', '?']) || is_in(CONTRASTS, &word);
        negated = match negated {
            _ if ends_clause => None,
            // `not only`, and `not without`.
            Some(0) if word == "only" || is_in(NEGATIONS, &word) => None,
            _ if is_in(NEGATIONS, &word) => Some(0),
            ago => ago.map(|ago| ago + 1),
        };
    }
    leaning
}

/// A word as the lists have it.
fn word(token: &str) -> String {
    token.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().replace('’', "'")
}

fn worth(word: &str) -> i32 {
    i32::from(is_in(POSITIVE, word)) - i32::from(is_in(NEGATIVE, word))
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
        assert_eq!(Mood::of("Strong growth, though some risk."), Mood::Positive);
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
            "beyond its reach nobody knows"
        );
        assert_eq!(Mood::of("not only strong but cheap"), Mood::Positive);
        assert_eq!(Mood::of("It is not without risk"), Mood::Negative);
        assert_eq!(Mood::of("neither good nor cheap"), Mood::Negative);
        assert_eq!(Mood::of("There isn't any growth, however it is cheap and solid"), Mood::Positive);
        assert_eq!(Mood::of("Nobody expects a recovery"), Mood::Negative);
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
        let sentiment = together([Mood::Positive, Mood::Positive, Mood::Negative, Mood::Neutral]);
        assert_eq!((sentiment.positive, sentiment.neutral, sentiment.negative), (2, 1, 1));
        assert!((sentiment.score - 0.25).abs() < 1e-12);
        assert_eq!(sentiment.method, "lexicon");
        assert!(together([]).score.abs() < f64::EPSILON);
    }

    #[test]
    fn the_lists_are_in_order_and_no_word_is_on_both_sides() {
        assert!([POSITIVE, NEGATIVE, NEGATIONS, QUESTIONS, CONTRASTS].iter().all(|list| list.is_sorted()));
        assert!(POSITIVE.iter().all(|word| !NEGATIVE.contains(word) && !NEGATIONS.contains(word)));
        assert!(NEGATIVE.iter().all(|word| !NEGATIONS.contains(word)));
    }
}
