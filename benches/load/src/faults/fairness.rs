//! Two users: one makes a call at a time, the other keeps 1,000 under way, of the same kind.
//!
//! The quiet one has a thread with precedence: on the flood's own thread it would wait for the flood's client.

use std::{
    net::SocketAddr,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use hdrhistogram::Histogram;
use rustix::process::setpriority_process;
use tokio::sync::oneshot;

use super::{
    counted::{self, Calls, Counted},
    holds,
};
use crate::{
    Result,
    client::Clients,
    machine,
    ours::{OTHER_TOKEN, OTHER_USER, Ours, Scratch, TOKEN},
    rows::{Load, Row},
    side::Side,
};

const FLOOD: Load = Load { connections: 10, streams: 100 };
/// How much later calls of the quiet user may be.
const FACTOR: f64 = 2.0;

pub async fn run(program: &Path, seconds: f64, rounds: usize) -> Result<()> {
    let scratch = Scratch::new()?;
    let ours = Ours { program, directory: scratch.path(), data: None, limits: OTHER_USER };
    let side = Side::grpc("ours", &mut ours.command()?, Some(TOKEN), 1).await?;
    let flooding = Clients::connect(side.address(), Some(TOKEN), FLOOD.connections).await?;
    let time = Duration::from_secs_f64(seconds);
    println!("{}; a flood of {} calls under way", machine::describe(), FLOOD.connections * FLOOD.streams);
    println!("{:<24} {:>9} {:>9} {:>9} {:>9}", "µs, the quiet user", "calls", "p50", "p99", "most");
    let (counted, mut ratios) = (Counted::default(), Vec::new());
    quiet(side.address(), time).await?;
    for _ in 0..rounds {
        let calm = quiet(side.address(), time).await?;
        line("calm", &calm);
        let during = flooded(&side, &flooding, &counted, time).await?;
        line("during the flood", &during);
        #[allow(clippy::cast_precision_loss)]
        ratios.push(during.value_at_quantile(0.99) as f64 / calm.value_at_quantile(0.99) as f64);
    }
    println!("\nthe flood");
    counted::print(&counted.take());
    ratios.sort_by(f64::total_cmp);
    let (least, middle, most) = (ratios[0], ratios[ratios.len() / 2], ratios[ratios.len() - 1]);
    println!("p99 during the flood / calm: {middle:.2} ({least:.2}–{most:.2})");
    holds("one user's flood moves another's p99 by at most 2 ×", middle <= FACTOR)
}

/// What the quiet user sees while the other floods the server.
async fn flooded(
    side: &Side,
    flooding: &Clients,
    counted: &Counted,
    time: Duration,
) -> Result<Histogram<u64>> {
    let over = Arc::new(AtomicBool::new(false));
    let Row { path, request, .. } = Row::read();
    let calls = Calls { path, request, load: FLOOD, pause: Duration::from_secs(1) };
    let watched = async {
        let seen = quiet(side.address(), time).await;
        over.store(true, Relaxed);
        seen
    };
    let (worked, seen) = tokio::join!(counted.work(flooding, &calls, &over), watched);
    worked?;
    seen
}

/// One call at a time for some time.
async fn quiet(address: SocketAddr, time: Duration) -> Result<Histogram<u64>> {
    let (sender, seen) = oneshot::channel();
    thread::spawn(move || {
        // Without the right to it the figures have the flood's client in them.
        if setpriority_process(None, -20).is_err() {
            eprintln!("no right to precedence: the quiet user waits for the flood's client too");
        }
        sender.send(one_at_a_time(address, time))
    });
    seen.await?
}

fn one_at_a_time(address: SocketAddr, time: Duration) -> Result<Histogram<u64>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let clients = Clients::connect(address, Some(OTHER_TOKEN), 1).await?;
        let row = Row::read().under("one at a time", 1, 1);
        clients.answer(&row).await?;
        Ok(clients.load(&row, time).await?.latency)
    })
}

fn line(what: &str, seen: &Histogram<u64>) {
    let at = |quantile| seen.value_at_quantile(quantile);
    println!("{what:<24} {:>9} {:>9} {:>9} {:>9}", seen.len(), at(0.5), at(0.99), seen.max());
}
