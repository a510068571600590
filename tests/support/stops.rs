//! Collects the stop records of the diagnostics tools: when work really stopped, and why.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{sync::watch, time::timeout};
use tracing::{
    Event, Subscriber,
    dispatcher::DefaultGuard,
    field::{Field, Visit},
};
use tracing_subscriber::{Layer, layer::Context, layer::SubscriberExt, util::SubscriberInitExt};

use super::capture::capture;

/// So long a test waits for records.
const PATIENCE: Duration = Duration::from_mins(2);

/// One stop record.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    pub tool: String,
    pub cause: String,
    pub past_deadline_ms: f64,
    pub ran_ms: f64,
}

/// The records of a process or of a thread. Cloning it makes another handle of the same.
#[derive(Clone)]
pub struct Stops {
    records: Arc<Mutex<Vec<Stop>>>,
    count: Arc<watch::Sender<usize>>,
}

impl Stops {
    /// Collects the records of the process from now on. Once a process.
    pub fn install() -> Self {
        let stops = Self::new();
        tracing_subscriber::registry().with(stops.clone()).init();
        stops
    }

    /// Collects the records of this thread until the guard is dropped: all of a server that runs in the runtime of a
    /// test with one thread.
    pub fn of_this_thread() -> (Self, DefaultGuard) {
        let stops = Self::new();
        let guard = capture(tracing_subscriber::registry().with(stops.clone()));
        (stops, guard)
    }

    fn new() -> Self {
        Self { records: Arc::default(), count: Arc::new(watch::Sender::new(0)) }
    }

    /// Waits until there are as many, and takes them. A call that is refused or ended before its tool began has none.
    pub async fn take(&self, count: usize) -> Vec<Stop> {
        let mut counted = self.count.subscribe();
        let came = timeout(PATIENCE, counted.wait_for(|&seen| seen >= count)).await.is_ok();
        assert!(came, "{} of {count} stop records came within {PATIENCE:?}", *counted.borrow());
        self.count.send_replace(0);
        std::mem::take(&mut *self.records.lock().expect("not poisoned"))
    }

    /// How many records there are of each cause.
    pub fn causes(stops: &[Stop]) -> BTreeMap<&str, usize> {
        let mut causes = BTreeMap::new();
        for stop in stops {
            *causes.entry(stop.cause.as_str()).or_default() += 1;
        }
        causes
    }

    /// The given quantile, 0 to 1, of a figure.
    pub fn quantile(stops: &[Stop], quantile: f64, figure: impl Fn(&Stop) -> f64) -> f64 {
        let mut figures: Vec<_> = stops.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        figures[((figures.len() - 1) as f64 * quantile).round() as usize]
    }
}

impl<S: Subscriber> Layer<S> for Stops {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        if event.metadata().target() != "toolwire::diagnostics" {
            return;
        }
        let mut stop = Stop::default();
        event.record(&mut stop);
        // A write also says when it has taken effect.
        if stop.cause.is_empty() {
            return;
        }
        self.records.lock().expect("not poisoned").push(stop);
        self.count.send_modify(|count| *count += 1);
    }
}

impl Visit for Stop {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "tool_name" => value.clone_into(&mut self.tool),
            "cause" => value.clone_into(&mut self.cause),
            _ => {}
        }
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        match field.name() {
            "past_deadline_ms" => self.past_deadline_ms = value,
            "ran_ms" => self.ran_ms = value,
            _ => {}
        }
    }

    fn record_debug(&mut self, _field: &Field, _value: &dyn std::fmt::Debug) {}
}
