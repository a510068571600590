//! The log in JSON: one object a line, in which the arguments of a call are an object too.
//!
//! Written straight into the line's buffer, field by field: every call has a line, so it must cost little. An event's
//! fields are texts and numbers, so arguments come as JSON text.

use std::{
    cell::RefCell,
    fmt::{self, Write},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde_json::Number;
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    fmt::{FmtContext, FormatEvent, FormatFields, format::Writer},
    registry::LookupSpan,
};

use toolwire_base::clock;

/// The field of a call's line that holds its arguments.
const ARGUMENTS: &str = "args";

/// The room of longer lines is not kept.
const MAX_KEPT: usize = 16 * 1024;

thread_local! {
    /// The line of this thread, in which the room of the last one is used again. Writing to the formatter itself would
    /// be a virtual call for each piece.
    static LINE: RefCell<String> = const { RefCell::new(String::new()) };
    /// A second and its text.
    static SECOND: RefCell<(Duration, String)> = const { RefCell::new((Duration::ZERO, String::new())) };
}

/// Formats events as JSON objects; spans are for traces.
#[derive(Debug)]
pub(super) struct Json;

impl<S, N> FormatEvent<S, N> for Json
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut line: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        // Taken, not borrowed: a field may log when it is written.
        let mut text = LINE.take();
        text.clear();
        write_line(&mut text, event);
        let end = line.write_str(&text);
        if text.capacity() <= MAX_KEPT {
            LINE.set(text);
        }
        end
    }
}

fn write_line(line: &mut String, event: &Event<'_>) {
    let metadata = event.metadata();
    line.push_str(r#"{"timestamp":""#);
    push_time(line, clock::wall());
    line.push_str(r#"","level":""#);
    line.push_str(metadata.level().as_str());
    line.push('"');
    event.record(&mut Fields(line));
    member(line, "target", metadata.target());
    line.push_str("}\n");
}

/// RFC 3339 with microseconds. Everything but those is the same for a second.
fn push_time(line: &mut String, time: SystemTime) {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    SECOND.with_borrow_mut(|(second, text)| {
        if text.is_empty() || second.as_secs() != since.as_secs() {
            *second = Duration::from_secs(since.as_secs());
            *text = clock::rfc3339(UNIX_EPOCH + *second);
        }
        line.push_str(text.trim_end_matches('Z'));
    });
    // Six digits, by a seventh in front of them.
    let mut digits = [b'.'; 7];
    let mut rest = since.subsec_micros();
    for digit in digits[1..].iter_mut().rev() {
        *digit = b'0' + u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
    }
    line.push_str(str::from_utf8(&digits).unwrap_or_default());
    line.push('Z');
}

/// Writes each field as a member.
struct Fields<'a>(&'a mut String);

impl Fields<'_> {
    fn plain(&mut self, field: &Field, value: impl fmt::Display) {
        key(self.0, field.name());
        let _ = write!(self.0, "{value}");
    }
}

impl Visit for Fields<'_> {
    fn record_bool(&mut self, field: &Field, value: bool) {
        key(self.0, field.name());
        self.0.push_str(if value { "true" } else { "false" });
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
        match Number::from_f64(value) {
            Some(number) => self.plain(field, number),
            None => self.plain(field, "null"),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            ARGUMENTS if value.starts_with('{') => {
                key(self.0, ARGUMENTS);
                self.0.push_str(value);
            }
            name => member(self.0, name, value),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        key(self.0, field.name());
        self.0.push('"');
        let _ = write!(Escaped(self.0), "{value:?}");
        self.0.push('"');
    }
}

fn key(line: &mut String, name: &str) {
    line.push_str(",\"");
    // `r#type` and the like. A name is a word of the program, in which nothing is escaped.
    line.push_str(name.strip_prefix("r#").unwrap_or(name));
    line.push_str("\":");
}

fn member(line: &mut String, name: &str, value: &str) {
    key(line, name);
    line.push('"');
    let _ = Escaped(line).write_str(value);
    line.push('"');
}

/// Writes what is within a text in JSON.
struct Escaped<'a>(&'a mut String);

impl Write for Escaped<'_> {
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

    use serde_json::{Value, json};
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
    fn a_time_has_six_decimals() {
        let of = |micros| {
            let mut text = String::new();
            push_time(&mut text, UNIX_EPOCH + Duration::from_micros(micros));
            text
        };
        assert_eq!(of(1_768_577_400_000_000), "2026-01-16T15:30:00.000000Z");
        assert_eq!(of(1_768_577_400_120_045), "2026-01-16T15:30:00.120045Z");
        assert_eq!(of(1_768_577_401_999_999), "2026-01-16T15:30:01.999999Z");
        assert_eq!(of(0), "1970-01-01T00:00:00.000000Z");
    }

    #[test]
    fn redacted_arguments_stay_a_text() {
        let found: Value = serde_json::from_str(&line(|| tracing::info!(args = "[redacted]"))).unwrap();
        assert_eq!(found["args"], "[redacted]");
    }
}
