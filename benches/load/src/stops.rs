//! How soon calls stop: calls that would go on for long, whose deadline passes or that are cancelled, while other calls
//! keep the server busy.
//!
//! Two clocks tell: the client's, from the deadline or from sending the cancellation until the call's status is here;
//! and the server's log, in which the tool itself says when it was stopped.

mod log;

use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use bytes::Bytes;
use hdrhistogram::Histogram;
use prost::Message;
use tokio::{sync::Mutex, time::sleep};

use crate::{
    Result,
    client::{Clients, histogram, work},
    exchange::{Answer, Connection},
    machine,
    ours::{Ours, Scratch, TOKEN},
    rows::{self, Load, Row},
    side::Side,
    v1::{InvokeToolResponse, ToolErrorCode, ToolResult, call_event, tool_result::Outcome},
};

/// What may be under way at once besides the load.
const UNDER_WAY: Load = Load { connections: 4, streams: 32 };
/// How long each call may take before it is stopped.
const DEADLINE: Duration = Duration::from_millis(100);
const DEADLINE_HEADER: &str = "100m";
const NO_DEADLINE_HEADER: &str = "60S";
/// How far into its work a call is when it is cancelled.
const PAUSE: Duration = Duration::from_millis(20);
/// Until the log has been written.
const LOG_DELAY: Duration = Duration::from_secs(2);
const DEADLINE_EXCEEDED: u32 = 4;

/// How a call is stopped.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stop {
    /// Its deadline passes.
    Deadline,
    /// By `CancelCall`.
    Cancel,
    /// The client resets the stream.
    Reset,
}

/// Stops so many calls in each way, and prints how soon they had stopped.
pub async fn run(program: &Path, calls: u64) -> Result<()> {
    let scratch = Scratch::new()?;
    let ours = Ours { program, directory: scratch.path(), data: None, limits: "" };
    let side = Side::grpc("ours", &mut ours.command()?, Some(TOKEN), rows::MANY.connections).await?;
    println!("{}, {calls} calls each, under load\n", machine::describe());
    println!("{:<34} {:>8} {:>8} {:>8} {:>8} {:>8}", "µs", "seen", "p50", "p99", "p99.9", "most");
    for stop in [Stop::Deadline, Stop::Cancel, Stop::Reset] {
        let Observed { client, sent } = under_load(&side, stop, calls).await?;
        if stop != Stop::Reset {
            line(&format!("{stop:?}, until the client knew"), &client);
        }
        sleep(LOG_DELAY).await;
        let stopped = log::delays(&ours.log(), &sent)?;
        line(&format!("{stop:?}, until the tool stopped"), &stopped);
    }
    Ok(())
}

fn line(name: &str, delays: &Histogram<u64>) {
    let at = |quantile| delays.value_at_quantile(quantile);
    let (p50, p99, p999) = (at(0.5), at(0.99), at(0.999));
    println!("{name:<34} {:>8} {p50:>8} {p99:>8} {p999:>8} {:>8}", delays.len(), delays.max());
}

/// What was seen of the stopped calls.
struct Observed {
    /// How late the client knew, in microseconds.
    client: Histogram<u64>,
    /// When each call was told to stop, by its id; empty for deadlines.
    sent: HashMap<String, SystemTime>,
}

async fn under_load(side: &Side, stop: Stop, calls: u64) -> Result<Observed> {
    let clients = Clients::connect(side.address(), Some(TOKEN), UNDER_WAY.connections).await?;
    for connection in 0..UNDER_WAY.connections {
        // What a connection's first request waits for is another matter.
        clients.answer_on(connection, &Row::read()).await?;
    }
    let over = Arc::new(AtomicBool::new(false));
    let load = {
        let (clients, over) = (side.clients()?.clone(), Arc::clone(&over));
        let is_over = move || over.load(Ordering::Relaxed);
        tokio::spawn(async move { clients.load_until(&Row::read(), is_over).await })
    };
    let observed = Arc::new(Mutex::new(Observed { client: histogram()?, sent: HashMap::new() }));
    let left = Arc::new(AtomicU64::new(calls));
    let take = move || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    work(
        UNDER_WAY,
        move || take().is_err(),
        |connection| {
            let connection = clients.connections()[connection].clone();
            let observed = Arc::clone(&observed);
            move || one(connection.clone(), stop, Arc::clone(&observed))
        },
    )
    .await?;
    over.store(true, Ordering::Relaxed);
    load.await??;
    let observed = Arc::into_inner(observed).ok_or("a worker is left")?;
    Ok(observed.into_inner())
}

async fn one(connection: Connection, stop: Stop, observed: Arc<Mutex<Observed>>) -> Result<()> {
    let start = Instant::now();
    let timeout = if stop == Stop::Deadline { DEADLINE_HEADER } else { NO_DEADLINE_HEADER };
    let mut answer = connection.open(rows::INVOKE, rows::sleep(), timeout).await?;
    if stop == Stop::Deadline {
        expect(answer, DEADLINE_EXCEEDED).await?;
        let late = start.elapsed().saturating_sub(DEADLINE);
        return record(&observed, Some(late), None).await;
    }
    let call_id = accepted(&mut answer).await?;
    sleep(PAUSE).await;
    let (sent, told) = (SystemTime::now(), Instant::now());
    if stop == Stop::Reset {
        drop(answer);
        return record(&observed, None, Some((call_id, sent))).await;
    }
    let cancellation =
        connection.open(rows::CANCEL, rows::cancel(call_id.clone()), NO_DEADLINE_HEADER).await?;
    cancelled(answer).await?;
    record(&observed, Some(told.elapsed()), Some((call_id, sent))).await?;
    cancellation.ok().await
}

async fn record(
    observed: &Mutex<Observed>,
    late: Option<Duration>,
    told: Option<(String, SystemTime)>,
) -> Result<()> {
    let mut observed = observed.lock().await;
    if let Some(late) = late {
        observed.client.saturating_record(u64::try_from(late.as_micros())?);
    }
    observed.sent.extend(told);
    Ok(())
}

async fn accepted(answer: &mut Answer) -> Result<String> {
    let message: Bytes = answer.message().await?.ok_or("ended at once")?;
    let event = InvokeToolResponse::decode(message)?.event.ok_or("no event")?;
    Ok(event.call_id)
}

/// A cancelled call ends well, with an event that says so.
async fn cancelled(mut answer: Answer) -> Result<()> {
    let message = answer.message().await?.ok_or("ended without an event")?;
    let event = InvokeToolResponse::decode(message)?.event.and_then(|event| event.event);
    match event {
        Some(call_event::Event::Result(ToolResult { outcome: Some(Outcome::Error(error)), .. }))
            if error.code() == ToolErrorCode::Cancelled =>
        {
            answer.ok().await
        }
        event => Err(format!("ended with {event:?}").into()),
    }
}

async fn expect(answer: Answer, expected: u32) -> Result<()> {
    match answer.status().await? {
        status if status == expected => Ok(()),
        status => Err(format!("ended with status {status} instead of {expected}").into()),
    }
}
