//! The weights and thresholds by which a tool is chosen: `weights.toml`, parsed once.
//!
//! Not here: limits, such as how many candidates are looked at, which stand where they apply.

use std::sync::LazyLock;

use serde::Deserialize;

static WEIGHTS: LazyLock<Weights> =
    LazyLock::new(|| toml::from_str(include_str!("weights.toml")).expect("a test reads it"));

/// The weights of `weights.toml`.
pub(crate) fn weights() -> &'static Weights {
    &WEIGHTS
}

/// The tables of `weights.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Weights {
    pub(crate) words: Words,
    pub(crate) fields: Fields,
    pub(crate) fit: Fit,
    pub(crate) coverage: Coverage,
    pub(crate) regression: Regression,
    pub(crate) others: Others,
    pub(crate) confidence: Confidence,
}

/// BM25F, and factors of terms that span several words of a tool.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    /// `k1` of BM25F: how much more a word says that stands more often.
    pub(crate) saturation: f32,
    /// `b` of BM25F, 0 to 1: how much less a word says in a long field.
    pub(crate) length: f32,
    /// Of two words side by side, beside what each says.
    pub(crate) pair: f32,
    /// Of two words as they stand, the small ones included.
    pub(crate) loose: f32,
    /// Of three words as they stand, the small ones included.
    pub(crate) triple: f32,
    /// Of a word for the tools of another one of its group of `related`.
    pub(crate) related: f32,
}

/// Factors of a word by the field of a tool's definition in which it stands.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fields {
    /// The tool's name and title.
    pub(crate) title: f32,
    pub(crate) description: f32,
    /// The descriptions of other tools, where they say what this one is for.
    pub(crate) credited: f32,
    /// The names of parameters.
    pub(crate) parameters: f32,
    /// The descriptions and values of parameters.
    pub(crate) texts: f32,
    pub(crate) utterances: f32,
    pub(crate) keywords: f32,
    /// The names of the result's fields.
    pub(crate) result: f32,
}

/// What a tool takes or lacks of what the message gives: terms that are added to its score (`…_taken`, `…_referred`),
/// and factors below 1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fit {
    /// Term: a name that the tool takes is said, or was said before and is referred to.
    pub(crate) name_taken: f32,
    /// Term: something is named, and the tool takes no names, but its examples have them.
    pub(crate) name_asked: f32,
    /// Term: something is referred to, and nothing that the tool takes was named before.
    pub(crate) name_referred: f32,
    /// Term: several names are said and the tool needs several. One that takes several and needs one has half of it.
    pub(crate) several_taken: f32,
    /// Term: a length of time is said that the tool takes.
    pub(crate) time_taken: f32,
    /// Term: any other value is said that the tool takes.
    pub(crate) word_taken: f32,
    /// Factor: something is named, and the tool takes no names.
    pub(crate) name_not_taken: f32,
    /// Factor: an account is named, and the tool takes none.
    pub(crate) account_not_taken: f32,
    /// Factor: what was named before is referred to, and the tool takes no names.
    pub(crate) nothing_referred: f32,
    /// Factor, for each parameter that is required and not said.
    pub(crate) missing: f32,
    /// The same where the parameter is a length of time.
    pub(crate) time_missing: f32,
    /// Factor: several names are said, and each is a call of its own.
    pub(crate) one_each: f32,
}

/// Factors of rarity in the share of a message that tools know.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Coverage {
    /// Of words side by side.
    pub(crate) together: f32,
    /// Of a name that is not known, or a word that is out of scope.
    pub(crate) foreign: f32,
}

/// The logistic regression over questions that says whether a tool is meant: the coefficients of its figures, and its
/// thresholds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Regression {
    /// Coefficient of the natural logarithm of the tool's score.
    pub(crate) score: f32,
    /// The score that a lower one counts as.
    pub(crate) least_score: f32,
    /// Coefficient of the share of the message that tools know, 0 to 1.
    pub(crate) coverage: f32,
    /// Added if something is named that the tool takes.
    pub(crate) named: f32,
    /// Added if the message says what is wanted, and tools know all of it.
    pub(crate) plain: f32,
    /// Added if something was named before that the tool takes.
    pub(crate) carried: f32,
    /// Coefficient of the number of words that no tool knows.
    pub(crate) unknown: f32,
    /// Coefficient of the number of names and words of things that no tool is about.
    pub(crate) foreign: f32,
    /// The least sum with which a tool is called.
    pub(crate) enough: f32,
    /// The least sum with which a tool is named as perhaps meant.
    pub(crate) some: f32,
}

/// The least score of another tool, as a share of the first one's.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Others {
    /// Of a tool for which a message speaks nearly as much as for the first one, so that it is asked which is meant.
    pub(crate) rival: f32,
    /// Of a tool that is tried in place of one that failed.
    pub(crate) near_what_failed: f64,
    /// Of a tool whose name another one's continues, beside that one.
    pub(crate) plainer: f32,
}

/// The confidence in a plan, 0 to 1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Confidence {
    /// Factor of the share of the message that tools know.
    pub(crate) alone: f32,
    /// Added to that factor, by the lead over the next tool, 0 to 1.
    pub(crate) ahead: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_weights_is_read() {
        let Regression { some, enough, .. } = weights().regression;
        assert!(some < enough);
    }
}
