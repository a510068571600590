//! What a server notes of a call: its stop records, and its line of the log with those of the calls below it.

use serde_json::Value;

use crate::support::program::Program;

/// What differs from call to call.
const OWN: [&str; 7] =
    ["timestamp", "call_id", "parent_call_id", "request_id", "duration_ms", "trace_id", "confirmation_id"];

#[derive(Debug, PartialEq)]
pub(crate) struct Noted {
    pub(crate) face: String,
    /// Tool and cause of each stop record.
    pub(crate) stops: Vec<(String, String)>,
    /// The lines of calls, the outermost last.
    pub(crate) lines: Vec<Value>,
}

impl Noted {
    /// What is noted of the next call of a tool, with so many stop records.
    pub(crate) async fn read(program: &mut Program, tool: &str, stops: usize) -> Self {
        let mut noted = Self { face: String::new(), stops: Vec::new(), lines: Vec::new() };
        loop {
            let line = program.next_line().await;
            match line["target"].as_str().unwrap_or_default() {
                "toolwire::diagnostics" if line.get("cause").is_some() => noted.stops.push((
                    line["tool_name"].as_str().unwrap().to_owned(),
                    line["cause"].as_str().unwrap().to_owned(),
                )),
                "toolwire::call" => noted.add(line, tool),
                _ => {}
            }
            if !noted.face.is_empty() && noted.stops.len() >= stops {
                noted.stops.sort_unstable();
                return noted;
            }
        }
    }

    fn add(&mut self, mut line: Value, tool: &str) {
        let is_outermost = line["tool_name"] == tool && line.get("parent_call_id").is_none();
        let fields = line.as_object_mut().unwrap();
        let face = fields.remove("face");
        fields.retain(|name, _| !OWN.contains(&name.as_str()));
        if is_outermost {
            face.as_ref().and_then(Value::as_str).unwrap_or("none").clone_into(&mut self.face);
        }
        self.lines.push(line);
    }

    /// The same, to be compared with that of another face.
    pub(crate) fn without_face(mut self) -> Self {
        self.face.clear();
        self
    }
}
