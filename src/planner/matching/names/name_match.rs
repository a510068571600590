//! What is named at a place of a message.

use super::{ACCOUNT, UNKNOWN};

/// What is named in a message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NameMatch {
    /// Where it stands, in bytes.
    pub(crate) begin: usize,
    pub(crate) end: usize,
    /// What it may be: the kind of thing, and what tools take for it. Without that, more than one thing of the kind.
    pub(crate) meanings: Vec<(String, String)>,
    /// Whether it is written as a name and not as a code, and nothing that is known.
    pub(crate) is_foreign: bool,
    /// Whether it is mistyped.
    pub(crate) is_guess: bool,
    /// What it may be where it says too little, for a question.
    pub(crate) candidates: Vec<String>,
}

impl NameMatch {
    /// A name that is not known.
    pub(super) fn unknown(text: &str, begin: usize, end: usize, is_foreign: bool) -> Self {
        let meanings = vec![(UNKNOWN.to_owned(), text[begin..end].to_owned())];
        Self { begin, end, meanings, is_foreign, is_guess: false, candidates: Vec::new() }
    }

    /// What tools take for it, if it is of that kind, or of none that is known. Without a kind, what is named by any.
    pub(crate) fn value(&self, of: &str) -> Option<&str> {
        let may_be = |(kind, _): &&(String, String)| is_of_kind(kind, of) || kind == UNKNOWN;
        self.meanings.iter().find(may_be).map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.begin < other.end && other.begin < self.end
    }

    /// Whether another one right behind it is more of the same name: of several words that are not known, or of one
    /// that begins as known ones do and goes on as none of them, `Tata Widgets`.
    pub(super) fn goes_on(&self, next: &Self) -> bool {
        next.is_unknown() && (self.is_unknown() || (!self.candidates.is_empty() && next.is_foreign))
    }

    /// Whether it is a known thing of that kind; without a kind, of any.
    pub(crate) fn is_of(&self, of: &str) -> bool {
        self.meanings.iter().any(|(kind, _)| is_of_kind(kind, of))
    }

    /// Whether it is nothing that is known, and no code either.
    pub(crate) fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    pub(crate) fn is_unknown(&self) -> bool {
        self.meanings.iter().any(|(kind, _)| kind == UNKNOWN)
    }
}

/// Whether a kind is that one. Without one, any kind of thing is meant, but no account.
pub(crate) fn is_of_kind(kind: &str, of: &str) -> bool {
    kind != UNKNOWN && (kind == of || (of.is_empty() && kind != ACCOUNT))
}
