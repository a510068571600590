//! Reports why sources failed during a command, for the operator at the terminal: what a server writes to its log.
//!
//! The caller's words say what to do, not what came; those of an operator stand in log lines, which are not shown here.
//! They are printed when the call has ended, below its result.

use std::{
    fmt::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    Layer, filter::Targets, layer::Context, layer::SubscriberExt, util::SubscriberInitExt,
};

use toolwire_server::console;

/// Where the lines come from of requests that failed for good.
const TARGET: &str = "toolwire_sources::upstream";
/// Maximum number that is printed: the first ones say most.
const MOST: usize = 8;

/// The reasons so far. Cloning it makes another handle of the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Reasons(Arc<Mutex<Vec<String>>>);

impl Reasons {
    /// Listens from now on, unless this process has a log.
    pub(super) fn listen() -> Self {
        let reasons = Self::default();
        let heard = reasons.clone().with_filter(Targets::new().with_target(TARGET, Level::WARN));
        // A log that is there already tells them.
        let _ = tracing_subscriber::registry().with(heard).try_init();
        reasons
    }

    /// Tells them, once.
    pub(super) fn tell(&self) {
        let reasons = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for reason in reasons {
            console::say(&reason);
        }
    }
}

impl<S: Subscriber> Layer<S> for Reasons {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut reason = Reason::default();
        event.record(&mut reason);
        let mut reasons = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if reason.is_told() && reasons.len() < MOST {
            reasons.push(format!("source {}: {}: {}", reason.source, reason.kind, reason.detail));
        }
    }
}

/// What an event says of a failure.
#[derive(Default)]
struct Reason {
    source: String,
    kind: String,
    detail: String,
}

impl Reason {
    /// Limits and deadlines of our own are explained by the call's own words.
    fn is_told(&self) -> bool {
        !self.detail.is_empty() && !matches!(self.kind.as_str(), "over_budget" | "out_of_time")
    }

    fn field(&mut self, field: &Field) -> Option<&mut String> {
        match field.name() {
            "source" => Some(&mut self.source),
            "kind" => Some(&mut self.kind),
            "detail" => Some(&mut self.detail),
            _ => None,
        }
    }
}

impl Visit for Reason {
    fn record_str(&mut self, field: &Field, value: &str) {
        if let Some(text) = self.field(field) {
            value.clone_into(text);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if let Some(text) = self.field(field) {
            let _ = write!(text, "{value:?}");
        }
    }
}
