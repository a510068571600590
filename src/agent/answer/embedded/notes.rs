//! Notes beside the data: warnings, the age of copies, and failed calls.

use std::time::Duration;

use serde_json::{Map, Value};

use super::{
    plain_words::in_plain_words,
    quote::{quote, quote_within},
};
use crate::cycle::is_cut;
use toolwire_planner::{ExecutedCall, Offer, PlanRequest};

/// The least age of a copy that is noted.
const FRESH: Duration = Duration::from_mins(1);

/// The note on a call with which a model asked for something that does not exist, or not in this form.
const WRONG: &str = "What was asked of it is not there";

/// How many arguments of a failed call are shown, and how many characters of each.
const MOST_VALUES: usize = 4;
const LONGEST_VALUE: usize = 40;

/// The note on a call beyond the budget.
const SPENT: &str = "This turn may make no more calls.";

/// The notes on a result, each with its source, since it may have numbers.
pub(super) fn of_result(made: &ExecutedCall, source_ids: &[String]) -> Vec<String> {
    let provenance = &made.result.provenance;
    let cite = source_ids.first().map(|id| format!(" [{id}]")).unwrap_or_default();
    let warnings = provenance.warnings.iter().map(|warning| format!("Note: {}", sentence(&quote(warning))));
    let age = provenance.cached_for.filter(|age| *age >= FRESH);
    let age = age.map(|age| format!("This comes from a copy that is {} old.", in_words(age)));
    warnings.chain(age).map(|note| format!("{note}{cite}")).collect()
}

/// The note on a failed call: what it was about, and why it failed.
pub(super) fn of_failure(request: &PlanRequest<'_>, made: &ExecutedCall) -> Option<String> {
    let reason = reason(made)?;
    let tool = title_of(request.offer, &made.call.tool);
    // What a model asked for is not repeated: text from outside may have put it there.
    let with = made.call.by_model.is_none().then(|| values(&made.call.arguments)).flatten();
    let with = with.map(|values| format!(" ({values})")).unwrap_or_default();
    Some(format!("Left out: {}{with}. {reason}", quote(tool)))
}

/// The title of a tool, or else its name.
pub(crate) fn title_of<'a>(offer: &'a Offer, tool: &'a str) -> &'a str {
    let title = offer.get(tool).map(|tool| tool.definition.title.as_str());
    title.filter(|title| !title.is_empty()).unwrap_or(tool)
}

/// Why a call failed, as a sentence.
pub(crate) fn reason(made: &ExecutedCall) -> Option<String> {
    let error = made.result.outcome.as_ref().err()?;
    // The numbers of a budget are of no source.
    let why = if made.echoes() {
        WRONG
    } else if is_cut(error) {
        SPENT
    } else {
        &error.message
    };
    Some(sentence(&quote(&in_plain_words(why))))
}

/// The values of a call's arguments, which distinguish it from another call of the same tool.
fn values(arguments: &Map<String, Value>) -> Option<String> {
    let shown = |value: &Value| match value {
        Value::String(text) => quote_within(text, LONGEST_VALUE),
        other => quote_within(&other.to_string(), LONGEST_VALUE),
    };
    let values: Vec<_> = arguments.values().take(MOST_VALUES).map(shown).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

/// A text with a full stop.
fn sentence(text: &str) -> String {
    let ends = text.is_empty() || text.ends_with(['.', '!', '?', '…']);
    if ends { text.to_owned() } else { format!("{text}.") }
}

/// `5 min`: rounded, as a check of numbers rounds.
fn in_words(age: Duration) -> String {
    let seconds = age.as_secs_f64();
    let (value, unit) = match seconds {
        it if it < 5400.0 => (it / 60.0, "min"),
        it if it < 129_600.0 => (it / 3600.0, "h"),
        it => (it / 86_400.0, "days"),
    };
    format!("{value:.0} {unit}")
}
