//! The log in JSON: one object a line, in which the arguments of a call are an object too (spec 004 §8.1 `args`).
//!
//! An event's fields are texts and numbers, so arguments come as JSON text. Lines without them pass as they are.

use std::fmt;

use serde_json::Value;
use tracing::{Event, Subscriber};
use tracing_subscriber::{
    fmt::{
        FmtContext, FormatEvent, FormatFields,
        format::{self, Format, Writer},
    },
    registry::LookupSpan,
};

/// The field of a call's line that holds its arguments.
const ARGUMENTS: &str = "args";

/// Formats as the inner format does, but for arguments.
pub(super) struct Json(pub(super) Format<format::Json>);

impl<S, N> FormatEvent<S, N> for Json
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        if event.metadata().fields().field(ARGUMENTS).is_none() {
            return self.0.format_event(context, writer, event);
        }
        let mut line = String::new();
        self.0.format_event(context, Writer::new(&mut line), event)?;
        match with_object(&line) {
            Some(line) => writeln!(writer, "{line}"),
            None => writer.write_str(&line),
        }
    }
}

/// The same line with the arguments as an object; `None` if they are redacted.
fn with_object(line: &str) -> Option<Value> {
    // Spares redacted lines the parser. The text of an object begins with its brace.
    if !line.contains(r#""args":"{"#) {
        return None;
    }
    let mut line: Value = serde_json::from_str(line).ok()?;
    let arguments = serde_json::from_str(line.get(ARGUMENTS)?.as_str()?).ok()?;
    line[ARGUMENTS] = arguments;
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_an_object_and_the_rest_is_untouched() {
        let line = r#"{"z":1,"args":"{\"symbol\":\"A\\\"B\",\"n\":9007199254740993}","a":true}"#;
        let expected = r#"{"z":1,"args":{"symbol":"A\"B","n":9007199254740993},"a":true}"#;
        assert_eq!(with_object(line).unwrap().to_string(), expected);
    }

    #[test]
    fn redacted_arguments_stay_a_text() {
        assert_eq!(with_object(r#"{"args":"[redacted]"}"#), None);
    }
}
