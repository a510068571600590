//! The log in JSON: one object a line, in which the arguments of a call are an object too.
//!
//! Written straight into the line's buffer, field by field: every call has a line, so it must cost little. An event's
//! fields are texts and numbers, so arguments come as JSON text.

use std::fmt::{self, Write};

use serde_json::Value;
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    fmt::{
        FmtContext, FormatEvent, FormatFields,
        format::Writer,
        time::{FormatTime, SystemTime},
    },
    registry::LookupSpan,
};

/// The field of a call's line that holds its arguments.
const ARGUMENTS: &str = "args";

/// Formats events as JSON objects; spans are for traces.
#[derive(Debug)]
pub(super) struct Json;

impl<S, N> FormatEvent<S, N> for Json
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut line: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let metadata = event.metadata();
        line.write_str(r#"{"timestamp":""#)?;
        SystemTime.format_time(&mut line)?;
        write!(line, r#"","level":"{}""#, metadata.level())?;
        let mut fields = Fields { line, end: Ok(()) };
        event.record(&mut fields);
        let Fields { mut line, end } = fields;
        end?;
        member(&mut line, "target", metadata.target())?;
        line.write_str("}\n")
    }
}

/// Writes each field as a member.
struct Fields<'a> {
    line: Writer<'a>,
    end: fmt::Result,
}

impl Fields<'_> {
    fn add(&mut self, write: impl FnOnce(&mut Writer<'_>) -> fmt::Result) {
        if self.end.is_ok() {
            self.end = write(&mut self.line);
        }
    }

    fn plain(&mut self, field: &Field, value: impl fmt::Display) {
        self.add(|line| {
            key(line, field.name())?;
            write!(line, "{value}")
        });
    }
}

impl Visit for Fields<'_> {
    fn record_bool(&mut self, field: &Field, value: bool) {
        self.plain(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.plain(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.plain(field, value);
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        self.plain(field, value);
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        self.plain(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        // No number in JSON is infinite.
        self.plain(field, Value::from(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(|line| match field.name() {
            ARGUMENTS if value.starts_with('{') => {
                key(line, ARGUMENTS)?;
                line.write_str(value)
            }
            name => member(line, name, value),
        });
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(|line| {
            key(line, field.name())?;
            line.write_char('"')?;
            write!(Escaped(line), "{value:?}")?;
            line.write_char('"')
        });
    }
}

fn key(line: &mut Writer<'_>, name: &str) -> fmt::Result {
    line.write_str(",\"")?;
    // `r#type` and the like.
    Escaped(line).write_str(name.strip_prefix("r#").unwrap_or(name))?;
    line.write_str("\":")
}

fn member(line: &mut Writer<'_>, name: &str, value: &str) -> fmt::Result {
    key(line, name)?;
    line.write_char('"')?;
    Escaped(line).write_str(value)?;
    line.write_char('"')
}

/// Writes what is within a text in JSON.
struct Escaped<'a, 'b>(&'a mut Writer<'b>);

impl Write for Escaped<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let is_special = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
        // Looked at without an end in between, which takes many bytes at once: hardly any text has one.
        if !text.bytes().fold(false, |has, byte| has | is_special(byte)) {
            return self.0.write_str(text);
        }
        let mut rest = text;
        while let Some(at) = rest.bytes().position(is_special) {
            let (plain, special) = rest.split_at(at);
            self.0.write_str(plain)?;
            match special.as_bytes()[0] {
                b'"' => self.0.write_str("\\\"")?,
                b'\\' => self.0.write_str("\\\\")?,
                b'\n' => self.0.write_str("\\n")?,
                b'\r' => self.0.write_str("\\r")?,
                b'\t' => self.0.write_str("\\t")?,
                control => write!(self.0, "\\u{control:04x}")?,
            }
            rest = &special[1..];
        }
        self.0.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use serde_json::json;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[derive(Clone, Default)]
    struct Out(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Out {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// The one line of what is logged.
    fn line(log: impl FnOnce()) -> String {
        let out = Out::default();
        let writer = out.clone();
        let layer = tracing_subscriber::fmt::layer().json().with_writer(move || writer.clone());
        let subscriber = tracing_subscriber::registry().with(layer.event_format(Json));
        tracing::subscriber::with_default(subscriber, log);
        let written = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
        assert_eq!(written.matches('\n').count(), 1, "{written}");
        written
    }

    #[test]
    fn a_line_is_an_object_of_all_fields_and_arguments_are_an_object_in_it() {
        let odd = "a\"b\\c\n\t\u{1}é";
        let text = line(|| {
            tracing::info!(
                target: "toolwire::call",
                user_id = %odd,
                shown = ?odd,
                plain = odd,
                args = r#"{"symbol":"A\"B","n":9007199254740993}"#,
                duration_ms = 0.25,
                nowhere = f64::NAN,
                count = 3,
                success = true,
                absent = None::<&str>,
                "call"
            );
        });
        let found: Value = serde_json::from_str(&text).unwrap();
        let timestamp = found["timestamp"].as_str().unwrap();
        assert!(timestamp.ends_with('Z') && timestamp.len() == "2026-01-16T15:30:00.000000Z".len());
        let expected = json!({
            "timestamp": timestamp,
            "level": "INFO",
            "message": "call",
            "user_id": odd,
            "shown": format!("{odd:?}"),
            "plain": odd,
            "args": {"symbol": "A\"B", "n": 9_007_199_254_740_993_u64},
            "duration_ms": 0.25,
            "nowhere": null,
            "count": 3,
            "success": true,
            "target": "toolwire::call",
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn redacted_arguments_stay_a_text() {
        let found: Value = serde_json::from_str(&line(|| tracing::info!(args = "[redacted]"))).unwrap();
        assert_eq!(found["args"], "[redacted]");
    }
}
