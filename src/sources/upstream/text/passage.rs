//! A text of several lines from outside, as types: as it came, which cannot be read, and made safe.

use std::fmt;

use serde::{Deserialize, Deserializer};

use super::{cut, markdown, plain, plain_from_html, readable::readable};

/// A text of several lines, made safe and cut to a bound, the last of its characters "…" if something was cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passage(String);

/// A text as it came, which has no accessor: all that comes out of it is safe.
#[derive(Clone, Default)]
pub struct Raw(String);

readable!(Passage);

impl Passage {
    /// A text that is plain already, or Markdown whose links and images no longer work.
    pub fn of(raw: &str, max_chars: usize) -> Self {
        Self(plain(raw, max_chars))
    }

    /// The text of a piece of HTML.
    pub fn of_html(raw: &str, max_chars: usize) -> Self {
        Self(plain_from_html(raw, max_chars))
    }

    /// Markdown without the tags of HTML in it, in which addresses stay exactly as they are.
    pub fn of_markdown(raw: &str, max_chars: usize) -> Self {
        Self(markdown(raw, max_chars))
    }

    #[must_use]
    pub fn beginning(&self, max_chars: usize) -> Self {
        Self(cut::characters(self, max_chars))
    }
}

impl Raw {
    /// How long it is, in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is nothing of it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text, if it is HTML.
    pub fn html(&self, max_chars: usize) -> Passage {
        Passage::of_html(&self.0, max_chars)
    }

    /// The text, if it is Markdown.
    pub fn markdown(&self, max_chars: usize) -> Passage {
        Passage::of_markdown(&self.0, max_chars)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Raw({} bytes)", self.0.len())
    }
}
