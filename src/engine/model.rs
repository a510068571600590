//! A result as a model reads it (spec 004 §5.2): `success`, then `data` or `error`, with where the data came from, as
//! text within a budget in tokens.
//!
//! What does not fit is cut: lists lose their last elements, long texts their end, and each place says how much is
//! missing. Text from outside stands between two lines with the response's nonce (§7.2). The same result is the same
//! bytes each time, and numbers are as they stand in the payload. Not here: which tools there are to call instead.

mod cut;
mod envelope;

use serde_json::{Value, json};

use self::{
    cut::Limits,
    envelope::{Envelope, Extent},
};
use toolwire_contract::{Provenance, ToolError, ToolResult};
use toolwire_tokens as tokens;

/// How many tokens a result may have if nobody says.
pub const USUAL_TOKENS: u64 = 4_000;
/// No budget is less: success, sources and nonce need some.
pub const LEAST_TOKENS: u64 = 256;
/// No budget is more.
pub const MOST_TOKENS: u64 = 1_000_000;

/// What a text begins with that tells of a failure.
pub const FAILED: &str = r#"{"success":false"#;

/// How a result is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// At most so many tokens, at least [`LEAST_TOKENS`].
    pub max_tokens: u64,
    /// The parameters of the tool by which another call can ask for less: how many, how far back, which kind.
    pub narrow_by: Vec<String>,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { max_tokens: USUAL_TOKENS, narrow_by: Vec::new() }
    }
}

pub fn text(result: &ToolResult, wanted: &Wanted) -> String {
    match &result.outcome {
        Ok(payload) => succeeded(payload.json_text(), || payload.json(), &result.provenance, wanted),
        Err(error) => failed(error, wanted),
    }
}

/// The text of data, whole if it fits.
fn succeeded<'a>(
    whole: &str,
    data: impl FnOnce() -> &'a Value,
    provenance: &Provenance,
    wanted: &Wanted,
) -> String {
    let envelope = Envelope { provenance, narrow_by: &wanted.narrow_by };
    let most = wanted.max_tokens;
    fitting(envelope.around(whole, Extent::Whole), most).unwrap_or_else(|| shortened(data(), &envelope, most))
}

/// As much of the data as fits.
fn shortened(data: &Value, envelope: &Envelope<'_>, most: u64) -> String {
    let with =
        |limits: Limits| fitting(envelope.around(&cut::cut(data, limits).to_string(), Extent::Cut), most);
    let Some(least) = with(Limits::of(0)) else { return hardly(data, envelope, most) };
    let (mut best, mut fits, mut exceeds) = (least, 0_usize, cut::needed(data) + 1);
    let mut next = 1_usize;
    while exceeds - fits > 1 {
        // Steps of twice the size until one does not fit, then halves: nothing is tried that is far too long.
        let tried = next.min(exceeds - 1);
        match with(Limits::of(tried)) {
            Some(text) => {
                (best, fits) = (text, tried);
                next = tried.saturating_mul(2);
            }
            None => exceeds = tried,
        }
        if next >= exceeds {
            next = fits + (exceeds - fits).div_ceil(2);
        }
    }
    best
}

/// Of data whose very structure is too much: its outermost levels, or a word in its place.
fn hardly(data: &Value, envelope: &Envelope<'_>, most: u64) -> String {
    for extent in [Extent::Cut, Extent::Sources] {
        for limits in cut::HARDLY {
            let cut = cut::cut(data, limits).to_string();
            if let Some(text) = fitting(envelope.around(&cut, extent), most) {
                return text;
            }
        }
    }
    envelope.around("", Extent::Nothing)
}

/// The text of a failure. Its message is ours, and as a rule short.
fn failed(error: &ToolError, wanted: &Wanted) -> String {
    let with = |message: &str| {
        let mut told =
            json!({"code": error.code.into_str(), "message": message, "retryable": error.retryable});
        if let Some(wait) = error.retry_after {
            told["retry_after_seconds"] = wait.as_secs_f64().into();
        }
        fitting(format!(r#"{FAILED},"error":{told}}}"#), wanted.max_tokens)
    };
    let shorter = [4_000, 1_000, 200, 50].into_iter();
    with(&error.message)
        .or_else(|| shorter.map(|most| cut::beginning(&error.message, most)).find_map(|it| with(&it)))
        .or_else(|| with(""))
        .unwrap_or_default()
}

fn fitting(text: String, most: u64) -> Option<String> {
    tokens::within(&text, most).then_some(text)
}

#[cfg(test)]
mod tests;
