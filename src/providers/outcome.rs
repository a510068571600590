//! What carrying a call out changes, and the check of the data that it returned.

use std::{fmt, sync::Arc, time::Duration};

use serde_json::{Map, Value};

use crate::bounds::{MAX_DATA, MAX_ERROR};
use toolwire_base::offload;
use toolwire_contract::{
    ErrorCode, Origin, Payload, ToolError,
    json::{self, MAX_DEPTH, ParseError, is_within_depth},
};
use toolwire_schema::{MAX_STEPS, Misfit, Options, Schema, Work};

/// How schemas of offers are compiled: without a bound a pattern of a few characters takes 10 MiB.
pub(crate) const OPTIONS: Options = Options { max_pattern: Some(512 * 1024), explains_branches: false };
/// What carrying a call out changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Read,
    /// A write that changes nothing more when it is carried out again.
    RepeatableWrite,
    Write,
}

/// The declared result of a tool.
#[derive(Clone)]
pub struct OutputSchema {
    schema: Arc<Value>,
    compiled: Arc<Schema>,
    /// The length of its text in KiB, rounded up.
    size: usize,
}

impl fmt::Debug for OutputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OutputSchema").field(&self.schema).finish()
    }
}

impl OutputSchema {
    /// Fails if it does not compile.
    pub fn new(schema: impl Into<Arc<Value>>) -> Result<Self, String> {
        let schema = schema.into();
        let compiled = Schema::compile(&schema, OPTIONS)?;
        let size = schema.to_string().len().div_ceil(1_024);
        Ok(Self { schema, compiled: Arc::new(compiled), size })
    }
}

/// The data of a call, checked: its size, its depth, and that it is of the declared form.
pub async fn read_data(text: String, effect: Effect, output: &OutputSchema) -> Result<Payload, ToolError> {
    let data = if text.len() > MAX_DATA {
        let message = format!("The result is {} bytes, over the limit of {MAX_DATA}.", text.len());
        Err(ToolError::new(ErrorCode::ResultTooLarge, message))
    } else {
        // A large schema makes much work of few bytes.
        let (bytes, compiled) = (text.len().saturating_mul(output.size), Arc::clone(&output.compiled));
        offload::if_large(bytes, move || data(&text, &compiled)).await
    };
    data.map_err(|error| add_that_it_was_done(error, effect))
}

fn data(text: &str, output: &Schema) -> Result<Payload, ToolError> {
    let misfit = |what: String| ToolError::new(ErrorCode::ParseError, what).with_origin(Origin::Tool);
    let value = Value::Object(parse(text).map_err(|what| misfit(format!("The result {what}.")))?);
    // The first violation is enough.
    match output.check(&value, 1, Work::all()) {
        Ok(()) => {}
        Err(Misfit::Broken(breaches)) => {
            let first = breaches.first();
            let what = cut(&first.to_string(), MAX_ERROR / 4);
            let at = match first.pointer() {
                "" => String::new(),
                pointer => format!(" at `{}`", cut(pointer, MAX_ERROR / 4)),
            };
            return Err(misfit(format!("The result does not fit the declared output{at}: {what}.")));
        }
        Err(Misfit::TooMuchWork) => {
            let message = format!(
                "The result takes more than {MAX_STEPS} steps to be checked against the declared output. Return less, or \
                 declare a simpler one: each branch of a union may read all of it."
            );
            return Err(ToolError::new(ErrorCode::ResultTooLarge, message).with_origin(Origin::Tool));
        }
    }
    let payload = Payload::from_json(value);
    if text.len() > offload::SMALL {
        // Rendered here, and not first where it is sent.
        payload.largest_len();
    }
    Ok(payload)
}

/// Reads data of another process. An error is the end of a sentence about it.
pub fn parse(text: &str) -> Result<Map<String, Value>, String> {
    let value = json::parse(text).map_err(|error| match error {
        ParseError::Syntax(error) => format!("is not JSON: {error}"),
        ParseError::Inexact(inexact) => inexact.to_string(),
    })?;
    if !is_within_depth(&value) {
        return Err(format!("nests deeper than {MAX_DEPTH} levels"));
    }
    match value {
        Value::Object(data) => Ok(data),
        _ => Err("is not a JSON object".to_owned()),
    }
}

/// An error of an answer: the tool has ended.
pub fn add_that_it_was_done(error: ToolError, effect: Effect) -> ToolError {
    if effect == Effect::Read {
        return error;
    }
    ToolError { message: format!("The write was done. {}", error.message), ..error }
}

/// A length of time that another process states, unless it is negative. Not by prost's conversion, which negates those
/// and overflows at the least of them.
pub fn length(seconds: i64, nanos: i32) -> Option<Duration> {
    Some(Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanos).ok()?))
}

/// As much of a text as a bound in bytes allows.
pub fn cut(text: &str, most: usize) -> String {
    text[..text.floor_char_boundary(most)].to_owned()
}

#[cfg(test)]
mod tests;
