//! Reports why sources failed during a command. A server writes this to its log; here it is for the operator at the
//! terminal.
//!
//! The texts for callers tell what to do, not what the source answered: only log lines have that. They are printed
//! below the result, when the call has ended.

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

/// The target of the log lines about requests that failed after all retries.
const TARGET: &str = "toolwire_sources::upstream";
/// Maximum number of reasons that are printed: the first ones are the most informative.
const MAX_REASONS: usize = 8;

/// The reasons so far. Clones share state.
#[derive(Clone, Debug, Default)]
pub(super) struct Reasons(Arc<Mutex<Vec<String>>>);

impl Reasons {
    /// Subscribes to log lines from now on, unless this process has a log.
    pub(super) fn listen() -> Self {
        let reasons = Self::default();
        let layer = reasons.clone().with_filter(Targets::new().with_target(TARGET, Level::WARN));
        // Fails if there is a log already, which has the lines then.
        let _ = tracing_subscriber::registry().with(layer).try_init();
        reasons
    }

    /// Prints them, once.
    pub(super) fn print(&self) {
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
        if reason.is_printed() && reasons.len() < MAX_REASONS {
            reasons.push(format!("source {}: {}: {}", reason.source, reason.kind, reason.detail));
        }
    }
}

/// The fields of a log line about a failure.
#[derive(Default)]
struct Reason {
    source: String,
    kind: String,
    detail: String,
}

impl Reason {
    /// The result of the call explains limits and deadlines of our own already.
    fn is_printed(&self) -> bool {
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
