//! What happened in a run, by the clock of the simulation. Kept beside the network, so that nothing is lost on the way.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use crate::plan::Operation;

/// Kept by all machines together. Cheap to clone; clones share state.
#[derive(Clone, Default)]
pub(crate) struct Ledger(Arc<Mutex<Kept>>);

/// Everything that happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    /// Executions of tools, in the server.
    pub(crate) runs: Vec<Work>,
    /// Requests to the source, in the server.
    pub(crate) asked: Vec<Work>,
    /// What the source wrote: the key and whose it is.
    pub(crate) written: Vec<(String, String)>,
    /// How calls ended, by their callers.
    pub(crate) seen: Vec<Seen>,
    /// Keys of calls that the server said it has cancelled, and when the caller knew.
    pub(crate) cancelled: Vec<(String, Duration)>,
    /// Calls after the last repair.
    pub(crate) after: Vec<Seen>,
}

/// Work for one call.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub(crate) key: String,
    /// By when it must have ended, as the server knows it.
    pub(crate) deadline: Duration,
    pub(crate) began: Duration,
    pub(crate) ended: Option<Duration>,
}

/// A call, by its caller.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) caller: usize,
    pub(crate) operation: Operation,
    pub(crate) sent: Duration,
    /// When its connection was made, if it had one.
    pub(crate) connected: Option<Duration>,
    pub(crate) ended: Duration,
    pub(crate) end: End,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// With data: the key and the user in it.
    Data { key: String, user: String },
    /// With an error of the tool, by its code.
    Failed(i32),
    /// With a status other than OK.
    Status(i32),
    /// The caller reset it.
    Reset,
    /// The connection broke.
    Broken,
    /// Nothing came, long after its deadline.
    Lost,
}

/// Which list work is kept in.
type List = fn(&mut Kept) -> &mut Vec<Work>;

/// Work that goes on until this is dropped.
pub(crate) struct Working {
    ledger: Ledger,
    list: List,
    index: usize,
}

/// The time, by the clock of the simulation.
pub(crate) fn now() -> Duration {
    turmoil::sim_elapsed().expect("within a simulation")
}

impl Ledger {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap()
    }

    /// An execution of a tool begins.
    pub(crate) fn run(&self, key: &str, deadline: Duration) -> Working {
        self.work(|kept| &mut kept.runs, key, deadline)
    }

    /// A request to the source begins.
    pub(crate) fn ask(&self, key: &str) -> Working {
        self.work(|kept| &mut kept.asked, key, Duration::MAX)
    }

    fn work(&self, list: List, key: &str, deadline: Duration) -> Working {
        let mut kept = self.lock();
        let work = Work { key: key.to_owned(), deadline, began: now(), ended: None };
        list(&mut kept).push(work);
        let index = list(&mut kept).len() - 1;
        Working { ledger: self.clone(), list, index }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        // What the end of the simulation drops never ended.
        (self.list)(&mut self.ledger.lock())[self.index].ended = turmoil::sim_elapsed();
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runs, asked, written, seen, cancelled, after } = self;
        let works = |f: &mut fmt::Formatter<'_>, what: &str, works: &[Work]| {
            works.iter().try_for_each(|it| {
                writeln!(f, "{what} {} {:?} to {:?}, by {:?}", it.key, it.began, it.ended, it.deadline)
            })
        };
        works(f, "tool", runs)?;
        works(f, "source", asked)?;
        written.iter().try_for_each(|(key, user)| writeln!(f, "written {key} of {user}"))?;
        cancelled.iter().try_for_each(|(key, at)| writeln!(f, "cancelled {key} {at:?}"))?;
        for Seen { caller, operation, sent, connected, ended, end } in seen.iter().chain(after) {
            let Operation { kind, key, timeout, .. } = operation;
            writeln!(
                f,
                "caller {caller} {kind:?} {key} {sent:?} + {timeout:?} on {connected:?} to {ended:?}: {end:?}"
            )?;
        }
        Ok(())
    }
}
