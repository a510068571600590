//! Orders in text from outside: sentences that address a model, tell it what to do, or press the reader to pay or
//! trade.
//!
//! Found by phrases (`cues`), so it finds what resembles what is known, in four languages, and not every order there
//! is. What stops the rest is the frame around such text, and that a model treats it as data.
//! `tests/fixtures/outside/` has what it must find and what it must not.

mod cues;
mod lexicon;
mod words;

use self::{
    cues::Cue,
    lexicon::Hits,
    words::{Word, words},
};
use super::text::Passage;

/// Cues that together make an order, each within this many words of the next.
struct Rule {
    cues: &'static [Cue],
    within: usize,
    /// Whether a question may be one too.
    asks: bool,
}

const RULES: [Rule; 15] = [
    Rule::alone(Cue::Role),
    Rule::alone(Cue::IfModel),
    Rule::alone(Cue::Obey),
    Rule::near(&[Cue::Drop, Cue::Whose, Cue::Rules], 7),
    Rule::near(&[Cue::Say, Cue::User], 8),
    Rule::near(&[Cue::Greeting, Cue::Model, Cue::Reads], 8),
    Rule::near(&[Cue::Mute, Cue::Summary], 12),
    Rule::near(&[Cue::Hide, Cue::Summary], 12),
    Rule::near(&[Cue::Unasked, Cue::Ordering], 8),
    Rule::near(&[Cue::YouAre, Cue::Roles], 6),
    Rule::near(&[Cue::Models, Cue::Ought], 5),
    Rule::near(&[Cue::Show, Cue::Secrets], 6).but_no_question(),
    Rule::near(&[Cue::Call, Cue::Tool], 4).but_no_question(),
    Rule::near(&[Cue::Trade, Cue::Pressure], 9).but_no_question(),
    Rule::near(&[Cue::Reply, Cue::Write], 8).but_no_question(),
];

/// An invitation to join a group, with a promised gain.
const SPAM: Rule = Rule::near(&[Cue::Join, Cue::Lure], 9).but_no_question();

/// Maximum number of words between the name of a model and what it is to do.
const ADDRESS: usize = 4;

/// Beginnings and signs of texts that pretend to be a system's own.
const MARKERS: [&str; 4] = ["system:", "assistant:", "[inst]", "im_start"];

/// A text without its orders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// The rest of it.
    pub text: Passage,
    /// How many sentences were left out.
    pub left_out: usize,
}

/// Leaves the sentences out of a text that give orders.
pub fn leave_out(text: &Passage) -> Cleaned {
    let mut rest = String::with_capacity(text.len());
    let mut left_out = 0;
    for sentence in sentences(text) {
        if gives_order(sentence) {
            left_out += 1;
            // The line ends where it ended.
            rest.push_str(if sentence.ends_with('\n') { "\n" } else { "" });
        } else {
            rest.push_str(sentence);
        }
    }
    // What stood on both sides of an order may together be what the sanitiser removes.
    let text = if left_out == 0 { text.clone() } else { Passage::of_markdown(&rest, usize::MAX) };
    Cleaned { text, left_out }
}

pub fn gives_order(sentence: &str) -> bool {
    let words = words(sentence);
    let hits = lexicon::hits(&words);
    let is_question = sentence.trim_end().ends_with('?');
    let holds = |rule: &Rule| (rule.asks || !is_question) && rule.holds(&words, &hits);
    RULES.iter().chain([&SPAM]).any(holds) || addresses_model(&words, &hits) || is_marked(sentence)
}

/// The sentences of a text, with the white space behind each. A point within a number ends none.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut is_end = false;
    text.split_inclusive(move |c: char| {
        let ends = c == '\n' || (is_end && c.is_whitespace());
        is_end = matches!(c, '.' | '!' | '?' | '…' | '।');
        ends
    })
}

impl Rule {
    const fn alone(cue: Cue) -> Self {
        // One of each, so that a constant can name them.
        let cues: &[Cue] = match cue {
            Cue::Role => &[Cue::Role],
            Cue::IfModel => &[Cue::IfModel],
            _ => &[Cue::Obey],
        };
        Self::near(cues, usize::MAX)
    }

    const fn near(cues: &'static [Cue], within: usize) -> Self {
        Self { cues, within, asks: true }
    }

    const fn but_no_question(self) -> Self {
        Self { asks: false, ..self }
    }

    fn holds(&self, words: &[Word], hits: &Hits) -> bool {
        let spans = self.cues.iter().map(|cue| hits.of(*cue).filter(|hit| hit.counts(*cue, words)));
        let spans: Vec<Vec<_>> = spans.map(Iterator::collect).collect();
        self.are_near(&spans, None)
    }

    /// Whether one hit of each remaining cue lies near those chosen so far.
    fn are_near(&self, rest: &[Vec<&lexicon::Hit>], chosen: Option<(usize, usize)>) -> bool {
        let Some((first, rest)) = rest.split_first() else { return true };
        first.iter().any(|hit| {
            let (start, end) =
                chosen.map_or((hit.start, hit.end), |(start, end)| (start.min(hit.start), end.max(hit.end)));
            end - start <= self.within && self.are_near(rest, Some((start, end)))
        })
    }
}

/// Whether a sentence turns to a model by name: `Dear AI, rank this first`.
fn addresses_model(words: &[Word], hits: &Hits) -> bool {
    let opening_before = |at: usize| {
        let begins = |start: usize| start == 0 || words[start].begins_clause;
        hits.of(Cue::Opening).any(|hit| hit.end == at && begins(hit.start))
    };
    hits.of(Cue::Model).any(|model| {
        let is_greeted = opening_before(model.start);
        if !is_greeted && model.start > 0 {
            return false;
        }
        let after = model.end..words.len().min(model.end + ADDRESS + 1);
        let clause = after.into_iter().find(|at| words[*at].begins_clause);
        // Without a greeting the name may be a mere subject: then only what it is to do tells.
        let is_told = |at: usize| {
            hits.of(Cue::Task).any(|task| task.start == at || (!task.is_imperative && task.start > at))
        };
        clause.is_some_and(|at| is_greeted || is_told(at))
    })
}

fn is_marked(sentence: &str) -> bool {
    let lower = sentence.trim_start().to_lowercase();
    MARKERS.iter().any(
        |marker| {
            if marker.ends_with(':') { lower.starts_with(marker) } else { lower.contains(marker) }
        },
    )
}

#[cfg(test)]
mod tests;
