//! Candidates that come first whatever their scores say.

use super::Candidate;
use crate::{
    matching::{index::Index, message::Message, words::stem},
    weights::weights,
};

/// Puts the tool first whose name the first one's only continues, if its score is near and nothing of the rest is said:
/// `get_growth` before `get_growth_with_losses`.
pub(super) fn plainer(index: &Index, message: &Message<'_>, candidates: &mut [Candidate]) {
    let Some(first) = candidates.first() else { return };
    let name = |it: &Candidate| index.tools[it.tool].tool.definition.name.as_str();
    let is_said = |part: &str| {
        let term = stem(part);
        message.words.iter().any(|word| word.term == term)
    };
    let is_plainer = |it: &Candidate| {
        let rest = name(first).strip_prefix(name(it)).and_then(|rest| rest.strip_prefix('_'));
        rest.is_some_and(|rest| !rest.split('_').any(is_said))
            && it.score >= weights().others.plainer * first.score
    };
    if let Some(at) = candidates.iter().position(is_plainer) {
        candidates[..=at].rotate_right(1);
    }
}

/// Puts the tool first of which the message is an utterance or a keyword: hardly a word of it may say anything, as in
/// `do I have Acme`.
pub(super) fn said(index: &Index, message: &Message<'_>, candidates: &mut [Candidate]) {
    let said = &message.tokens[message.first().min(message.words.len() - message.tag())..];
    let tools = index.words.said_by(&said[..said.len() - message.tag()], !message.times.is_any());
    for candidate in candidates.iter_mut() {
        let is_complete = candidate.filled.missing.is_empty() && candidate.filled.correction.is_none();
        let is_read = index.tools[candidate.tool].is_read;
        candidate.is_said =
            is_read && is_complete && tools.iter().any(|tool| *tool as usize == candidate.tool);
    }
    if let Some(at) = candidates.iter().position(|it| it.is_said) {
        candidates[..=at].rotate_right(1);
    }
}
