//! What the server's log says of the calls that were stopped.

use std::{
    collections::HashMap,
    fs::File,
    io::{BufRead, BufReader},
    path::Path,
    time::SystemTime,
};

use hdrhistogram::Histogram;
use prost_types::Timestamp;
use serde::Deserialize;

use crate::{Result, client::histogram};

/// What the tool says when it is stopped.
const MESSAGE: &str = "\"message\":\"work stopped\"";

/// The line of a call that was stopped.
#[derive(Debug, Deserialize)]
struct Stopped {
    timestamp: String,
    call_id: String,
    cause: String,
    past_deadline_ms: f64,
}

/// How long each call went on after it was told to stop or, if none was, past its deadline. In microseconds.
pub fn delays(log: &Path, sent: &HashMap<String, SystemTime>) -> Result<Histogram<u64>> {
    let mut delays = histogram()?;
    for line in BufReader::new(File::open(log)?).lines() {
        let line = line?;
        if !line.contains(MESSAGE) {
            continue;
        }
        let stopped: Stopped = serde_json::from_str(&line)?;
        let delay = if sent.is_empty() {
            (stopped.cause == "deadline").then_some(stopped.past_deadline_ms / 1000.0)
        } else {
            sent.get(&stopped.call_id).map(|sent| since(*sent, &stopped.timestamp)).transpose()?
        };
        if let Some(seconds) = delay {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            delays.saturating_record((seconds.max(0.0) * 1e6) as u64);
        }
    }
    Ok(delays)
}

fn since(sent: SystemTime, stopped: &str) -> Result<f64> {
    let stopped = SystemTime::try_from(stopped.parse::<Timestamp>()?)?;
    Ok(stopped.duration_since(sent).map_or(0.0, |it| it.as_secs_f64()))
}
