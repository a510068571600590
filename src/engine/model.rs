//! Renders a result as text for a model: `success`, then `data` or `error`, with the provenance of the
//! data, within a budget in tokens.
//!
//! What does not fit is cut: lists lose their last elements, long texts their end, and each cut states how much is
//! missing. Text from outside is framed by two lines with the response's nonce. The text is deterministic, and
//! numbers are written as in the payload. Not here: which parameters narrow a result, which the caller passes in.

mod cut;
mod envelope;

use serde_json::{Value, json};

use self::{
    cut::Limits,
    envelope::{Envelope, Extent},
};
use toolwire_contract::{ToolError, ToolResult};
use toolwire_tokens as tokens;

/// The default budget in tokens.
pub const USUAL_TOKENS: u64 = 4_000;
/// The minimum budget: `success`, sources and nonce need some tokens.
pub const LEAST_TOKENS: u64 = 256;
/// The maximum budget.
pub const MOST_TOKENS: u64 = 1_000_000;

/// The tool that reads on in a result that is kept.
pub const READ_RESULT: &str = "read_result";

/// The beginning of every text of an error.
pub const FAILED: &str = r#"{"success":false"#;

/// The budget and the hints of a rendered result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Maximum number of tokens, at least [`LEAST_TOKENS`].
    pub max_tokens: u64,
    /// Parameters of the tool that narrow its result, suggested if the text is cut.
    pub narrow_by: Vec<String>,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { max_tokens: USUAL_TOKENS, narrow_by: Vec::new() }
    }
}

pub fn text(result: &ToolResult, options: &TextOptions) -> String {
    match &result.outcome {
        Ok(payload) => {
            let (provenance, kept) = (&result.provenance, result.kept.as_deref());
            let envelope = Envelope { provenance, kept, options };
            render_data(payload.json_text(), || payload.json(), &envelope)
        }
        Err(error) => render_error(error, options),
    }
}

/// Renders data, whole if it fits.
fn render_data<'a>(whole: &str, data: impl FnOnce() -> &'a Value, envelope: &Envelope<'_>) -> String {
    let most = envelope.options.max_tokens;
    if_fits(envelope.wrap(whole, Extent::Whole), most).unwrap_or_else(|| shorten(data(), envelope, most))
}

/// Data that is cut to a budget in tokens and keeps its shape: lists and texts are shorter, and nothing notes it.
/// `None` if even the least of it exceeds the budget.
pub fn part(data: &Value, max_tokens: u64) -> Option<Value> {
    largest(data, |limits| {
        let part = cut::cut(data, limits.in_shape());
        tokens::within(&part.to_string(), max_tokens).then_some(part)
    })
}

fn shorten(data: &Value, envelope: &Envelope<'_>, most: u64) -> String {
    let render =
        |limits: Limits| if_fits(envelope.wrap(&cut::cut(data, limits).to_string(), Extent::Cut), most);
    largest(data, render).unwrap_or_else(|| shorten_structure(data, envelope, most))
}

/// Searches for the largest limits at which the data fits. `None` if it does not at the lowest.
fn largest<T>(data: &Value, render: impl Fn(Limits) -> Option<T>) -> Option<T> {
    let (mut best, mut fits, mut exceeds) = (render(Limits::of(0))?, 0_usize, cut::uncut_extent(data) + 1);
    let mut next = 1_usize;
    while exceeds - fits > 1 {
        // Doubles until a step does not fit, then bisects: a text that is far too long would cost much to count.
        let tried = next.min(exceeds - 1);
        match render(Limits::of(tried)) {
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
    Some(best)
}

/// Renders data whose structure alone exceeds the budget: its outermost levels, or a placeholder.
fn shorten_structure(data: &Value, envelope: &Envelope<'_>, most: u64) -> String {
    for extent in [Extent::Cut, Extent::Sources] {
        for limits in cut::FEW_LEVELS {
            let cut = cut::cut(data, limits).to_string();
            if let Some(text) = if_fits(envelope.wrap(&cut, extent), most) {
                return text;
            }
        }
    }
    envelope.wrap("", Extent::Nothing)
}

/// Renders an error. Its message is written by the server and usually short.
fn render_error(error: &ToolError, options: &TextOptions) -> String {
    let render = |message: &str| {
        let mut body =
            json!({"code": error.code.into_str(), "message": message, "retryable": error.retryable});
        if let Some(wait) = error.retry_after {
            body["retry_after_seconds"] = wait.as_secs_f64().into();
        }
        if let Some(advice) = error.advice() {
            body["advice"] = advice.into();
        }
        if_fits(format!(r#"{FAILED},"error":{body}}}"#), options.max_tokens)
    };
    let shorter = [4_000, 1_000, 200, 50].into_iter();
    render(&error.message)
        .or_else(|| shorter.map(|most| cut::beginning(&error.message, most)).find_map(|it| render(&it)))
        .or_else(|| render(""))
        .unwrap_or_default()
}

fn if_fits(text: String, most: u64) -> Option<String> {
    tokens::within(&text, most).then_some(text)
}

#[cfg(test)]
mod tests;
