//! The positions of all topics, as the id of an event holds them.

use serde_json::Value;

use super::Topic;

/// What separates the parts of an id. That of calls, which may hold it too, comes last.
const SEPARATOR: char = '-';

/// Where a reader goes on, by topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cursor {
    /// Empty: from the beginning, as 0 is.
    pub(super) calls: String,
    pub(super) confirmations: u64,
    pub(super) tasks: u64,
}

impl Cursor {
    /// Reads an id; `None` if it is not one of this stream.
    pub(super) fn read(id: &str) -> Option<Self> {
        let mut parts = id.splitn(3, SEPARATOR);
        let mut number = || parts.next()?.parse().ok();
        let (confirmations, tasks) = (number()?, number()?);
        Some(Self { calls: parts.next()?.to_owned(), confirmations, tasks })
    }

    pub(super) fn write(&self) -> String {
        let Self { calls, confirmations, tasks } = self;
        format!("{confirmations}{SEPARATOR}{tasks}{SEPARATOR}{calls}")
    }

    /// Notes the position of an event.
    pub(super) fn note(&mut self, topic: Topic, value: &Value) {
        match topic {
            Topic::Calls => {
                if let Some(position) = value["position"].as_str().filter(|text| !text.is_empty()) {
                    position.clone_into(&mut self.calls);
                }
            }
            Topic::Confirmations => note_number(&mut self.confirmations, &value["sequence"]),
            Topic::Tasks => note_number(&mut self.tasks, &value["position"]),
            Topic::Tools | Topic::Providers | Topic::Stats => {}
        }
    }
}

fn note_number(position: &mut u64, value: &Value) {
    if let Some(number) = value.as_u64().filter(|number| *number > 0) {
        *position = number;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_id_is_read_as_it_was_written() {
        for calls in ["", "a-b_c"] {
            let cursor = Cursor { calls: calls.to_owned(), confirmations: 7, tasks: u64::MAX };
            assert_eq!(Cursor::read(&cursor.write()), Some(cursor));
        }
        for other in ["", "7", "7-8", "a-1-x", "7--x"] {
            assert_eq!(Cursor::read(other), None, "{other}");
        }
    }

    #[test]
    fn what_has_no_position_moves_nothing() {
        let mut cursor = Cursor::default();
        cursor.note(Topic::Calls, &json!({"position": "p"}));
        cursor.note(Topic::Confirmations, &json!({"sequence": 5}));
        let before = cursor.clone();
        cursor.note(Topic::Calls, &json!({"position": ""}));
        cursor.note(Topic::Confirmations, &json!({"sequence": 0}));
        cursor.note(Topic::Tools, &json!({"position": 9}));
        assert_eq!(cursor, before);
    }
}
