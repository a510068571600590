//! What is to be said beside the data: warnings, the age of copies, and calls that brought nothing.

use std::time::Duration;

use super::quote::quote;
use crate::agent::plan::{Asked, Made};

/// A copy as young as this is not worth a word.
const FRESH: Duration = Duration::from_mins(1);

/// What is to be known of a result; each with its source, since it may have numbers.
pub(super) fn of_result(made: &Made, source_ids: &[String]) -> Vec<String> {
    let provenance = &made.result.provenance;
    let cite = source_ids.first().map(|id| format!(" [{id}]")).unwrap_or_default();
    let warnings = provenance.warnings.iter().map(|warning| format!("Note: {}", sentence(&quote(warning))));
    let age = provenance.cached_for.filter(|age| *age >= FRESH);
    let age = age.map(|age| format!("This comes from a copy that is {} old.", in_words(age)));
    warnings.chain(age).map(|note| format!("{note}{cite}")).collect()
}

/// What a call that failed is about, and why.
pub(super) fn of_failure(asked: &Asked<'_>, made: &Made) -> Option<String> {
    let error = made.result.outcome.as_ref().err()?;
    let tool = asked.offer.get(&made.call.tool).map(|tool| tool.definition.title.as_str());
    let tool = tool.filter(|title| !title.is_empty()).unwrap_or(&made.call.tool);
    Some(format!("Left out: {}. {}", quote(tool), sentence(&quote(&error.message))))
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
