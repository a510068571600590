//! A call's stream on the wire: numbers and timestamps its events.

use super::{
    Event, Terminal,
    convert::{self, ResultFormat, timestamp},
    proto::v1::{self, call_event},
};
use toolwire_base::clock;

/// Numbers the events of one call, gapless from 0.
#[derive(Clone, Debug)]
pub struct Sequence {
    call_id: String,
    request_id: String,
    next: u64,
    format: ResultFormat,
}

impl Sequence {
    /// The stream of the given call, its data in the wanted format.
    pub fn new(call_id: String, format: ResultFormat) -> Self {
        Self { call_id, request_id: String::new(), next: 0, format }
    }

    /// Names the `request_id` of the call in its events.
    #[must_use]
    pub fn with_request_id(self, request_id: String) -> Self {
        Self { request_id, ..self }
    }

    pub fn event(&mut self, event: Event) -> v1::CallEvent {
        self.number(convert::event(event, self.format))
    }

    /// The last event.
    pub fn terminal(&mut self, terminal: Terminal) -> v1::CallEvent {
        self.number(convert::terminal(terminal, self.format))
    }

    /// The last event, of a result that is rendered already.
    pub fn result(&mut self, result: v1::ToolResult) -> v1::CallEvent {
        self.number(call_event::Event::Result(result))
    }

    fn number(&mut self, event: call_event::Event) -> v1::CallEvent {
        let sequence = self.next;
        self.next += 1;
        v1::CallEvent {
            call_id: self.call_id.clone(),
            request_id: self.request_id.clone(),
            sequence,
            event_time: Some(timestamp(clock::wall())),
            event: Some(event),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_numbered_without_a_gap() {
        let mut sequence = Sequence::new("c".to_owned(), ResultFormat::Struct);
        let progress = || Event::Progress { fraction: None, message: String::new() };
        let numbers: Vec<_> = (0..3).map(|_| sequence.event(progress()).sequence).collect();
        assert_eq!(numbers, [0, 1, 2]);
    }
}
