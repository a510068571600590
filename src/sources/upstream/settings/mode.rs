//! Which sources are embedded and which are live.

use std::fmt;

/// The key of the setting that makes sources live. Settings without effect because of it are refused, unless it is set
/// by the flag: that is for one run, the file for all.
pub const MODE: &str = "sources.mode";

/// Where a source's answers come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Mode {
    /// From recorded data, served within this process, without the network.
    #[default]
    Embedded,
    /// From the source itself.
    Live,
}

/// A mode for all sources, and those that differ: `embedded,forum=live`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    usual: Mode,
    /// In the order of the text.
    others: Vec<(String, Mode)>,
}

/// A text is not a mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected embedded or live, and sources that differ{example}, but found {found:?}{hint}")]
pub struct InvalidMode {
    found: String,
    example: String,
    hint: String,
}

impl Modes {
    pub fn of(&self, source: &str) -> Mode {
        let other = self.others.iter().find(|(name, _)| name == source);
        other.map_or(self.usual, |(_, mode)| *mode)
    }

    /// Reads modes of the sources with the given names.
    pub fn parse(text: &str, sources: &[&str]) -> Result<Self, InvalidMode> {
        let mut words = text.split(',').map(str::trim);
        let usual = words.next().unwrap_or_default();
        let invalid = |word: &str, hint: &str| InvalidMode::new(word, hint, sources);
        let usual = usual.parse().map_err(|_| invalid(usual, "; begin with the usual mode"))?;
        let mut others: Vec<(String, Mode)> = Vec::new();
        for word in words {
            let (name, mode) = word.split_once('=').ok_or_else(|| invalid(word, ""))?;
            let name = name.trim();
            if !sources.contains(&name) {
                return Err(invalid(word, &format!("; the sources are {}", sources.join(", "))));
            }
            let mode = mode.trim().parse().map_err(|_| invalid(word, ""))?;
            if others.iter().any(|(other, _)| other == name) {
                return Err(invalid(word, "; it says twice what this source is"));
            }
            others.push((name.to_owned(), mode));
        }
        Ok(Self { usual, others })
    }
}

impl InvalidMode {
    fn new(found: &str, hint: &str, sources: &[&str]) -> Self {
        let example = sources.first().map(|name| format!(", such as embedded,{name}=live"));
        Self {
            found: found.chars().take(64).collect(),
            example: example.unwrap_or_default(),
            hint: hint.to_owned(),
        }
    }
}

impl fmt::Display for Modes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.usual.into_str())?;
        self.others.iter().try_for_each(|(source, mode)| write!(f, ",{source}={}", mode.into_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCES: [&str; 3] = ["forum", "prices", "news"];

    fn modes(text: &str) -> Result<Modes, InvalidMode> {
        Modes::parse(text, &SOURCES)
    }

    #[test]
    fn one_word_is_for_all_and_others_are_named() {
        assert_eq!(modes("live").unwrap().of("forum"), Mode::Live);
        let mixed = modes("embedded, forum=live,news = embedded").unwrap();
        assert_eq!(SOURCES.map(|source| mixed.of(source) == Mode::Live), [true, false, false]);
        assert_eq!(modes(&mixed.to_string()).unwrap(), mixed);
    }

    #[test]
    fn unknown_words_are_refused_naming_the_known() {
        for bad in ["", "Live", "recorded", "forum=live", "live,", "live,forum", "live,forum=on"] {
            let error = modes(bad).unwrap_err().to_string();
            assert!(error.contains("embedded or live") && error.contains("embedded,forum=live"), "{error}");
        }
        let error = modes("live,forun=live").unwrap_err().to_string();
        assert!(error.contains("the sources are forum, prices, news"), "{error}");
        assert!(modes("live,forum=live,forum=embedded").is_err());
    }
}
