//! A mixed load for long: reads, streams, writes, watches, resets, refusals, new connections. Nothing may be left behind.

use std::{
    fs,
    net::SocketAddr,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{
    task::JoinSet,
    time::{Instant, interval, sleep},
};

use super::{holds, metrics, mib};
use crate::{
    Result,
    client::Clients,
    machine,
    ours::{Ours, Scratch, TOKEN},
    rows::{self, Row},
    side::Side,
};

const EVERY: Duration = Duration::from_secs(10);
/// Until what ended has been given back.
const SETTLE: Duration = Duration::from_secs(5);
/// Workers, each with a connection of its own at a time.
const WORKERS: u64 = 8;
/// A worker's connection makes so many calls.
const CALLS: usize = 200;
/// Between two calls of a worker, so that the server is not always busy.
const PAUSE: Duration = Duration::from_millis(2);
/// What may be left more than before: background work of the store, a scrape.
const TASKS: u64 = 5;
const DESCRIPTORS: u64 = 5;
/// How much more anonymous memory the last third may have than the second, in KiB beside a tenth: the file of
/// `request_id`s has caches of its own, which fill.
const MEMORY: u64 = 4 * 1024;

/// What the server has at one moment.
#[derive(Clone, Copy, Debug)]
struct Sample {
    tasks: u64,
    descriptors: u64,
    /// In KiB.
    anonymous: u64,
}

pub async fn run(program: &Path, minutes: f64) -> Result<()> {
    let scratch = Scratch::new()?;
    let ours = Ours { program, directory: scratch.path(), data: None, limits: "" };
    let mut side = Side::grpc("ours", &mut ours.command()?, Some(TOKEN), 1).await?;
    let (admin, process) = (side.server.admin()?, side.server.id());
    println!("{}; {minutes} minutes", machine::describe());
    // What the first of each kind makes once is no leak.
    load(side.address(), SETTLE).await?;
    sleep(SETTLE).await;
    let before = Sample::take(admin, process).await?;
    println!("{:>8} {:>8} {:>12} {:>15}", "s", "tasks", "descriptors", "anonymous MiB");
    before.print("idle");
    let time = Duration::from_secs_f64(minutes * 60.0);
    let (samples, calls) = tokio::try_join!(sampled(admin, process, time), load(side.address(), time))?;
    sleep(SETTLE).await;
    let after = Sample::take(admin, process).await?;
    after.print("idle");
    println!("{calls} calls");
    holds(&format!("at most {TASKS} tasks more"), after.tasks <= before.tasks + TASKS)?;
    holds(
        &format!("at most {DESCRIPTORS} descriptors more"),
        after.descriptors <= before.descriptors + DESCRIPTORS,
    )?;
    let third = samples.len() / 3;
    let (second, last) = (mean(&samples[third..2 * third]), mean(&samples[2 * third..]));
    println!("anonymous memory {:.1} MiB in the second third, {:.1} MiB in the last", mib(second), mib(last));
    holds("memory is flat", last <= second + second / 10 + MEMORY)
}

/// Every 10 s.
async fn sampled(admin: SocketAddr, process: u32, time: Duration) -> Result<Vec<Sample>> {
    let (began, mut samples) = (Instant::now(), Vec::new());
    // At least three, however short the run.
    let mut interval = interval(EVERY.min(time / 4));
    interval.tick().await;
    while began.elapsed() + interval.period() <= time {
        interval.tick().await;
        let sample = Sample::take(admin, process).await?;
        sample.print(&began.elapsed().as_secs().to_string());
        samples.push(sample);
    }
    Ok(samples)
}

fn mean(samples: &[Sample]) -> u64 {
    samples.iter().map(|sample| sample.anonymous).sum::<u64>() / samples.len().max(1) as u64
}

impl Sample {
    async fn take(admin: SocketAddr, process: u32) -> Result<Self> {
        let descriptors = fs::read_dir(format!("/proc/{process}/fd"))?.count() as u64;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let tasks = metrics::sum(admin, "toolwire_tasks").await? as u64;
        Ok(Self { tasks, descriptors, anonymous: machine::memory(process)?.1 })
    }

    fn print(&self, when: &str) {
        let Self { tasks, descriptors, anonymous } = self;
        println!("{when:>8} {tasks:>8} {descriptors:>12} {:>15.1}", mib(*anonymous));
    }
}

/// Everything that clients do, for some time; how many calls that were.
async fn load(address: SocketAddr, time: Duration) -> Result<u64> {
    let (over, calls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let mut workers = JoinSet::new();
    for number in 0..WORKERS {
        let (over, calls) = (Arc::clone(&over), Arc::clone(&calls));
        workers.spawn(async move {
            while !over.load(Relaxed) {
                let clients = Clients::connect(address, Some(TOKEN), 1).await?;
                for _ in 0..CALLS {
                    one(&clients, calls.fetch_add(1, Relaxed), number).await?;
                    sleep(PAUSE).await;
                    if over.load(Relaxed) {
                        break;
                    }
                }
            }
            Result::Ok(())
        });
    }
    sleep(time).await;
    over.store(true, Relaxed);
    while let Some(worker) = workers.join_next().await {
        worker??;
    }
    Ok(calls.load(Relaxed))
}

/// One thing that a client does: the next kind each time.
async fn one(clients: &Clients, count: u64, worker: u64) -> Result<()> {
    let connection = &clients.connections()[0];
    match (count + worker) % 16 {
        // Recorded, and seldom.
        0 => clients.answer(&Row::write(&request_id(count))).await.map(drop),
        // In step, then left.
        1 => clients.synced(0, &Row::watch()).await.map(drop),
        // Left in the middle of its work.
        2 => {
            let mut answer = connection.open(rows::INVOKE, rows::sleep(), "60S").await?;
            answer.message().await.map(drop)
        }
        // Ended by its deadline.
        3 => connection.open(rows::INVOKE, rows::sleep(), "5m").await?.status().await.map(drop),
        // Refused.
        4 => connection.open(rows::CALL, rows::unknown(), "60S").await?.status().await.map(drop),
        // Left before it has answered.
        5 => {
            tokio::select! {
                answer = connection.open(rows::CALL, rows::work(Duration::from_secs(1)), "60S") => drop(answer?),
                () = sleep(PAUSE) => {}
            }
            Ok(())
        }
        kind => {
            let rows = rows::all();
            clients.answer(&rows[usize::try_from(kind)? % rows.len()]).await.map(drop)
        }
    }
}

/// A UUID of version 4 for each number.
fn request_id(count: u64) -> String {
    let process = u64::from(std::process::id());
    format!("{process:08x}-0000-4000-8000-{count:012x}")
}
