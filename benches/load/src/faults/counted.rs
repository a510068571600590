//! Calls that may be refused: how often they ended with which status, and after how long.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use hdrhistogram::Histogram;
use tokio::{task::JoinSet, time::sleep};

use crate::{
    Result,
    client::{Clients, histogram},
    rows::Load,
};

/// What came of the calls, by status.
#[derive(Clone, Debug, Default)]
pub struct Counted(Arc<Mutex<BTreeMap<u32, Ended>>>);

/// The calls that ended with one status.
#[derive(Debug)]
pub struct Ended {
    /// How long they took, in microseconds.
    pub latency: Histogram<u64>,
    /// How many said when to come back.
    pub with_pushback: u64,
}

/// One kind of call, many times.
#[derive(Clone, Debug)]
pub struct Calls {
    pub path: &'static str,
    pub request: Bytes,
    pub load: Load,
    /// How long a caller waits after it was refused.
    pub pause: Duration,
}

impl Counted {
    /// Keeps calls under way until told.
    pub async fn work(&self, clients: &Clients, calls: &Calls, over: &Arc<AtomicBool>) -> Result<()> {
        let mut workers = JoinSet::new();
        for connection in clients.connections() {
            for _ in 0..calls.load.streams {
                let (counted, connection, calls) = (self.clone(), connection.clone(), calls.clone());
                let over = Arc::clone(over);
                workers.spawn(async move {
                    while !over.load(Relaxed) {
                        let start = Instant::now();
                        let answer = connection.open(calls.path, calls.request.clone(), "60S").await?;
                        let has_pushback = answer.pushback().is_some();
                        let status = answer.status().await?;
                        counted.add(status, start.elapsed(), has_pushback)?;
                        if status != 0 {
                            sleep(calls.pause).await;
                        }
                    }
                    Result::Ok(())
                });
            }
        }
        while let Some(worker) = workers.join_next().await {
            worker??;
        }
        Ok(())
    }

    fn add(&self, status: u32, took: Duration, has_pushback: bool) -> Result<()> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = match all.entry(status) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(Ended { latency: histogram()?, with_pushback: 0 })
            }
        };
        ended.latency.saturating_record(u64::try_from(took.as_micros())?);
        ended.with_pushback += u64::from(has_pushback);
        Ok(())
    }

    /// What came of them. Nothing more is counted.
    pub fn take(&self) -> BTreeMap<u32, Ended> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Prints a line for each status.
pub fn print(all: &BTreeMap<u32, Ended>) {
    println!("{:<8} {:>9} {:>9} {:>9} {:>9} {:>9}", "status", "calls", "pushback", "p50 µs", "p99", "most");
    for (status, Ended { latency, with_pushback }) in all {
        let at = |quantile| latency.value_at_quantile(quantile);
        let (p50, p99, most) = (at(0.5), at(0.99), latency.max());
        println!("{status:<8} {:>9} {with_pushback:>9} {p50:>9} {p99:>9} {most:>9}", latency.len());
    }
}
