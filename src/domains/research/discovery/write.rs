//! The words of suggestions: by rule, from what the tools say; or by a model. Not here: figures, and what may be done.

mod model_writer;
mod rule_writer;

use std::{collections::BTreeMap, fmt::Debug};

use futures_util::future::BoxFuture;

pub(super) use self::{model_writer::ModelWriter, rule_writer::RuleWriter};
use super::{
    score::{Action, Conviction},
    signals::Signal,
};
use crate::proto::v1::Suggestion;
use toolwire_agent_api::job::Run;

/// The findings on a candidate.
#[derive(Clone, Debug)]
pub(super) struct Findings {
    /// Its figures, without words.
    pub(super) suggestion: Suggestion,
    /// The most that may be done.
    pub(super) most: Action,
    /// The signals for and against it.
    pub(super) signals: Vec<Signal>,
    /// What the forum writes of it.
    pub(super) thesis: Option<String>,
}

/// The words of a suggestion.
#[derive(Clone, Debug, Default)]
pub(super) struct Text {
    /// The action. `None` in a text by rule.
    pub(super) action: Option<Action>,
    /// The conviction of the action. `None` in a text by rule.
    pub(super) conviction: Option<Conviction>,
    pub(super) thesis: String,
    pub(super) reasons: Vec<String>,
    pub(super) risks: Vec<String>,
}

/// The words of all suggestions.
#[derive(Clone, Debug, Default)]
pub(super) struct Wording {
    pub(super) market_note: String,
    pub(super) texts: BTreeMap<String, Text>,
    pub(super) model: String,
    /// Tokens in and out.
    pub(super) usage: (u64, u64),
}

/// Writes the texts. The error says why there are none, without text from outside.
pub(super) trait Writer: Send + Sync + Debug {
    /// Writes about these candidates; `moods` are the summaries of what was browsed.
    fn write<'a>(
        &'a self,
        run: &'a dyn Run,
        findings: &'a [Findings],
        moods: &'a [String],
    ) -> BoxFuture<'a, Result<Wording, String>>;
}
