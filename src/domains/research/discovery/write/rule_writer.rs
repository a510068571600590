//! Texts by rule: they repeat what the tools say, and add nothing.

use futures_util::future::{BoxFuture, ready};

use super::{Findings, Text, Wording, Writer};
use crate::{discovery::signals::Signal, proto::v1::Suggestion};
use toolwire_agent_api::job::Run;
use toolwire_base::words::one_line;

/// The author, where it was no model.
const EMBEDDED: &str = "embedded";

/// Maximum length of the quoted part of a thesis, in characters.
const MAX_QUOTE_LENGTH: usize = 400;

#[derive(Clone, Copy, Debug)]
pub(in super::super) struct RuleWriter;

impl Writer for RuleWriter {
    fn write<'a>(
        &'a self,
        _run: &'a dyn Run,
        findings: &'a [Findings],
        moods: &'a [String],
    ) -> BoxFuture<'a, Result<Wording, String>> {
        let texts = findings.iter().map(|it| (it.suggestion.symbol.clone(), text(it))).collect();
        let model = EMBEDDED.to_owned();
        Box::pin(ready(Ok(Wording { market_note: moods.join(" "), texts, model, usage: (0, 0) })))
    }
}

fn text(findings: &Findings) -> Text {
    let Findings { suggestion, signals, thesis, .. } = findings;
    let places = suggestion.found_in.join(", ");
    let thesis = match thesis {
        Some(thesis) => shorten(&one_line(thesis)),
        None => format!("{} is named in: {places}. No thesis was found.", suggestion.name),
    };
    Text {
        action: None,
        conviction: None,
        thesis,
        reasons: reasons(signals, &places),
        risks: risks(signals, suggestion),
    }
}

/// The reasons for it; if there are none, the places that name it.
fn reasons(signals: &[Signal], places: &str) -> Vec<String> {
    let pro = signals.iter().filter_map(|signal| match signal {
        Signal::For(text) => Some(text.clone()),
        Signal::Against(_) => None,
    });
    let pro: Vec<_> = pro.collect();
    if pro.is_empty() { vec![format!("Named in: {places}")] } else { pro }
}

/// The risks: the rules that it breaks or that could not be judged, and figures against it.
fn risks(signals: &[Signal], suggestion: &Suggestion) -> Vec<String> {
    let mut risks = Vec::new();
    match &suggestion.wait_zone {
        Some(wait_zone) => risks.extend(wait_zone.reasons.iter().cloned()),
        None => risks.push("Whether it is in the wait zone was not found out".to_owned()),
    }
    match &suggestion.forbidden {
        Some(forbidden) => risks.extend(forbidden.violations.iter().chain(&forbidden.unknown).cloned()),
        None => risks.push("Whether the rules forbid it was not found out".to_owned()),
    }
    risks.extend(signals.iter().filter_map(|signal| match signal {
        Signal::Against(text) => Some(text.clone()),
        Signal::For(_) => None,
    }));
    risks
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= MAX_QUOTE_LENGTH {
        return text.to_owned();
    }
    text.chars().take(MAX_QUOTE_LENGTH - 1).chain(['…']).collect()
}
