//! Which sources are embedded and which are live.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use super::Upstream;

/// Where a source's answers come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// From recorded data, served within this process. Nothing is asked of anybody.
    #[default]
    Embedded,
    /// From the source itself.
    Live,
}

/// A mode for all sources, and those that differ: `embedded,yahoo=live`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Modes {
    usual: Mode,
    others: BTreeMap<Upstream, Mode>,
}

/// A text says no such thing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected embedded or live, and sources that differ, such as embedded,yahoo=live, but found {found:?}{hint}"
)]
pub struct InvalidMode {
    found: String,
    hint: String,
}

impl Mode {
    /// The word in settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Live => "live",
        }
    }

    fn named(name: &str) -> Option<Self> {
        [Self::Embedded, Self::Live].into_iter().find(|mode| mode.name() == name)
    }
}

impl Modes {
    /// The mode of a source.
    pub fn of(&self, source: Upstream) -> Mode {
        self.others.get(&source).copied().unwrap_or(self.usual)
    }
}

impl TryFrom<String> for Modes {
    type Error = InvalidMode;

    fn try_from(text: String) -> Result<Self, InvalidMode> {
        let mut words = text.split(',').map(str::trim);
        let usual = words.next().unwrap_or_default();
        let usual = Mode::named(usual).ok_or_else(|| invalid(usual, "; begin with the usual mode"))?;
        let mut others = BTreeMap::new();
        for word in words {
            let (name, mode) = word.split_once('=').ok_or_else(|| invalid(word, ""))?;
            let source = Upstream::named(name.trim()).ok_or_else(|| invalid(word, &known()))?;
            let mode = Mode::named(mode.trim()).ok_or_else(|| invalid(word, ""))?;
            if others.insert(source, mode).is_some() {
                return Err(invalid(word, "; it says twice what this source is"));
            }
        }
        Ok(Self { usual, others })
    }
}

fn invalid(found: &str, hint: &str) -> InvalidMode {
    InvalidMode { found: found.chars().take(64).collect(), hint: hint.to_owned() }
}

fn known() -> String {
    format!("; the sources are {}", Upstream::ALL.map(Upstream::name).join(", "))
}

impl fmt::Display for Modes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.usual.name())?;
        self.others.iter().try_for_each(|(source, mode)| write!(f, ",{}={}", source.name(), mode.name()))
    }
}

impl From<Modes> for String {
    fn from(modes: Modes) -> Self {
        modes.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modes(text: &str) -> Result<Modes, InvalidMode> {
        text.to_owned().try_into()
    }

    #[test]
    fn one_word_is_for_all_and_others_are_named() {
        assert_eq!(modes("live").unwrap().of(Upstream::Nse), Mode::Live);
        let mixed = modes("embedded, yahoo=live,news = embedded").unwrap();
        assert_eq!(
            Upstream::ALL.map(|source| mixed.of(source) == Mode::Live),
            [true, false, false, false, false, false]
        );
        assert_eq!(modes(&mixed.to_string()).unwrap(), mixed);
    }

    #[test]
    fn unknown_words_are_refused_naming_the_known() {
        for bad in ["", "Live", "recorded", "yahoo=live", "live,", "live,yahoo", "live,yahoo=on"] {
            let error = modes(bad).unwrap_err().to_string();
            assert!(error.contains("embedded or live"), "{bad}: {error}");
        }
        let error = modes("live,yaho=live").unwrap_err().to_string();
        assert!(error.contains("yahoo, valuepickr, reddit, news, screener, nse"), "{error}");
        assert!(modes("live,yahoo=live,yahoo=embedded").is_err());
    }
}
