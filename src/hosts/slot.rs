//! The protocol of one stream as a state machine: what either side may send in which state, and when silence ends it.
//!
//! It does no input or output and reads no clock: `work` hands it messages and instants, and sends what it says. The
//! table of states stands in `host.proto`.

mod hello;

use tokio::time::Instant;

use crate::{
    bounds::{GREETING, HALF_CLOSE, OFFERING, PONG, SILENCE},
    end::End,
    wire::{self, work_request::Message},
};
use toolwire_contract::proto::v1;
use toolwire_tool::context::CallId;

pub(crate) use self::hello::Greeting;

/// A slot of a host.
#[derive(Debug)]
pub(crate) struct Slot {
    state: State,
    received: Instant,
    sent: Instant,
    pinged: Option<Instant>,
}

#[derive(Debug)]
enum State {
    Greeting {
        until: Instant,
    },
    /// The catalogue is unknown: the same greeting comes again, with offers.
    Offering {
        greeting: Greeting,
        until: Instant,
    },
    Idle,
    Busy {
        call: CallId,
        is_leaving: bool,
    },
    Leaving {
        until: Instant,
    },
}

/// What a message of the host means, once its state allows it.
#[derive(Debug, PartialEq)]
pub(crate) enum Received {
    /// Identifies the host. The server answers with `ask_for_offers` or `welcome`.
    Greeting(Greeting),
    /// The offers that were asked for. The server answers with `welcome`.
    Offers(Greeting, Vec<wire::Offer>),
    Progress {
        fraction: Option<f64>,
        message: String,
    },
    Chunk(String),
    /// The call has ended, and the slot is idle or leaves.
    Outcome(wire::outcome::Outcome),
    /// A call of a lost slot has ended.
    Late(CallId, wire::outcome::Outcome),
    /// The host wants `leave`.
    WantsLeave,
    Nothing,
}

/// What the passing of time asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Ping,
    Nothing,
}

/// The state of a request to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    /// `Leave` is to be sent.
    Send,
    /// It was sent before, or the slot is not welcome yet.
    Ignore,
}

impl Slot {
    pub(crate) fn open(now: Instant) -> Self {
        Self { state: State::Greeting { until: now + GREETING }, received: now, sent: now, pinged: None }
    }

    /// Takes a message of the host.
    pub(crate) fn receive(&mut self, message: Option<Message>, now: Instant) -> Result<Received, End> {
        let message = message.ok_or_else(|| End::violation("a message of no known kind"))?;
        self.received = now;
        // Whatever comes shows that the host is there: what it sent before it read `Ping` does not end the slot.
        self.pinged = None;
        match (&mut self.state, message) {
            (State::Greeting { .. }, Message::Hello(hello)) => {
                Ok(Received::Greeting(Greeting::first(&hello)?))
            }
            (State::Offering { greeting, .. }, Message::Hello(hello)) => {
                let offers = greeting.check_repeat(hello)?;
                Ok(Received::Offers(greeting.clone(), offers))
            }
            (State::Busy { call, .. }, Message::Progress(it)) => {
                of_call(*call, &it.call_id)?;
                Ok(Received::Progress { fraction: it.fraction, message: it.message })
            }
            (State::Busy { call, .. }, Message::Chunk(it)) => {
                of_call(*call, &it.call_id)?;
                Ok(Received::Chunk(it.data_json))
            }
            (State::Busy { call, .. }, Message::Outcome(it)) => {
                of_call(*call, &it.call_id)?;
                self.end_call(now);
                Ok(Received::Outcome(complete(it.outcome)))
            }
            (State::Idle | State::Busy { .. } | State::Leaving { .. }, Message::Late(it)) => late(it),
            (State::Idle | State::Busy { .. } | State::Leaving { .. }, Message::Pong(_)) => {
                Ok(Received::Nothing)
            }
            (State::Idle | State::Busy { is_leaving: false, .. }, Message::Leaving(_)) => {
                Ok(Received::WantsLeave)
            }
            (State::Busy { .. } | State::Leaving { .. }, Message::Leaving(_)) => Ok(Received::Nothing),
            (state, message) => {
                Err(End::violation(format!("{} is not allowed while {}", kind(&message), state.word())))
            }
        }
    }

    /// The host half-closed. Only one that was asked to leave, and has no call, does so.
    pub(crate) fn half_close(&self) -> End {
        match self.state {
            State::Leaving { .. } => End::Left,
            _ => End::violation(format!(
                "a half-close is not allowed while {}: a host sends Leaving and waits for Leave",
                self.state.word()
            )),
        }
    }

    /// The catalogue is unknown: its offers are asked for.
    pub(crate) fn ask_for_offers(&mut self, greeting: Greeting, now: Instant) {
        self.state = State::Offering { greeting, until: now + OFFERING };
        self.sent = now;
    }

    /// The tools can be called: the slot is idle.
    pub(crate) fn welcome(&mut self, now: Instant) {
        self.state = State::Idle;
        self.sent = now;
    }

    /// Begins a call. `false` if the slot takes none.
    pub(crate) fn start(&mut self, call: CallId, now: Instant) -> bool {
        let is_idle = matches!(self.state, State::Idle);
        if is_idle {
            self.state = State::Busy { call, is_leaving: false };
            self.sent = now;
        }
        is_idle
    }

    pub(crate) fn leave(&mut self, now: Instant) -> Leave {
        match &mut self.state {
            State::Idle => self.state = State::Leaving { until: now + HALF_CLOSE },
            State::Busy { is_leaving, .. } if !*is_leaving => *is_leaving = true,
            _ => return Leave::Ignore,
        }
        self.sent = now;
        Leave::Send
    }

    /// Notes that something else was sent.
    pub(crate) fn note_sent(&mut self, now: Instant) {
        self.sent = now;
    }

    /// What is due by now.
    pub(crate) fn poll(&mut self, now: Instant) -> Result<Due, End> {
        if now < self.next_poll() {
            return Ok(Due::Nothing);
        }
        match self.state {
            State::Greeting { .. } => Err(End::Idle("no Hello came")),
            State::Offering { .. } => Err(End::Idle("no Hello with offers came")),
            State::Leaving { .. } => Err(End::Left),
            State::Idle | State::Busy { .. } if self.pinged.is_some() => Err(End::Idle("no Pong came")),
            State::Idle | State::Busy { .. } => {
                (self.pinged, self.sent) = (Some(now), now);
                Ok(Due::Ping)
            }
        }
    }

    /// When `poll` has something to say, if nothing happens before.
    pub(crate) fn next_poll(&self) -> Instant {
        match self.state {
            State::Greeting { until } | State::Offering { until, .. } | State::Leaving { until } => until,
            State::Idle | State::Busy { .. } => {
                let silent_since = self.received.min(self.sent);
                self.pinged.map_or(silent_since + SILENCE, |pinged| pinged + PONG)
            }
        }
    }

    /// Whether the greeting is over.
    pub(crate) fn is_welcome(&self) -> bool {
        !matches!(self.state, State::Greeting { .. } | State::Offering { .. })
    }

    /// Whether a call can be started on it.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.state, State::Idle)
    }

    /// Nothing was read for a while, by our own choice: that was no silence of the host.
    pub(crate) fn resume_reading(&mut self, now: Instant) {
        self.received = now;
        self.pinged = self.pinged.map(|_| now);
    }

    fn end_call(&mut self, now: Instant) {
        let State::Busy { is_leaving, .. } = self.state else { return };
        self.state = if is_leaving { State::Leaving { until: now + HALF_CLOSE } } else { State::Idle };
    }
}

impl State {
    fn word(&self) -> &'static str {
        match self {
            Self::Greeting { .. } | Self::Offering { .. } => "greeting",
            Self::Idle => "idle",
            Self::Busy { .. } => "busy",
            Self::Leaving { .. } => "leaving",
        }
    }
}

fn of_call(call: CallId, stated: &str) -> Result<(), End> {
    if stated.parse() == Ok(call) {
        return Ok(());
    }
    Err(End::violation(format!("a message names another call than the slot's, {call}")))
}

/// One without data and without an error, or of a kind that is not known, ends its call all the same.
fn complete(outcome: Option<wire::outcome::Outcome>) -> wire::outcome::Outcome {
    outcome.unwrap_or_else(|| {
        wire::outcome::Outcome::Error(v1::ToolError {
            message: "The host gave neither data nor an error.".to_owned(),
            ..v1::ToolError::default()
        })
    })
}

fn late(late: wire::Late) -> Result<Received, End> {
    let outcome = late.outcome.ok_or_else(|| End::violation("Late without an outcome"))?;
    let call = outcome.call_id.parse().map_err(|_| End::violation("Late of a call_id that is no UUID"))?;
    Ok(Received::Late(call, complete(outcome.outcome)))
}

fn kind(message: &Message) -> &'static str {
    match message {
        Message::Hello(_) => "Hello",
        Message::Progress(_) => "Progress",
        Message::Chunk(_) => "Chunk",
        Message::Outcome(_) => "Outcome",
        Message::Late(_) => "Late",
        Message::Pong(_) => "Pong",
        Message::Leaving(_) => "Leaving",
    }
}

#[cfg(test)]
mod tests;
