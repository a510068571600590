//! Ten times as many callers as the server takes: what is beyond is refused before anything is done for it, and says
//! when to come back; what was let in takes what it takes.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::time::sleep;

use super::{
    counted::{self, Calls, Counted},
    holds, metrics, mib,
};
use crate::{
    Result,
    client::Clients,
    machine,
    ours::{Ours, Scratch, TOKEN},
    rows::{self, Load, Row},
    side::Side,
};

/// So many calls at once, and ten times as many callers.
const TAKEN: usize = 100;
const LIMITS: &str = "max_concurrent_calls = 100\nmax_calls_per_user = 10000";
const CALLERS: Load = Load { connections: 10, streams: 100 };
/// How long each call works.
const WORK: Duration = Duration::from_millis(100);
/// A caller who was refused comes back a little later: sooner than it was told to.
const PAUSE: Duration = Duration::from_millis(200);
const UNAVAILABLE: u32 = 14;
/// What the server may take more, in KiB: for connections, and for streams that are refused.
const MEMORY: u64 = 64 * 1024;
const EXECUTED: &str = "gen_ai_execute_tool_duration_seconds_count";

pub async fn run(program: &Path, seconds: f64) -> Result<()> {
    let scratch = Scratch::new()?;
    let ours = Ours { program, directory: scratch.path(), data: None, limits: LIMITS };
    let mut side = Side::grpc("ours", &mut ours.command()?, Some(TOKEN), 1).await?;
    let admin = side.server.admin()?;
    side.clients()?.answer(&Row::read()).await?;
    let clients = Clients::connect(side.address(), Some(TOKEN), CALLERS.connections).await?;
    let executed = metrics::sum(admin, EXECUTED).await?;
    let (_, before) = machine::memory(side.server.id())?;
    let counted = Counted::default();
    let over = Arc::new(AtomicBool::new(false));
    let calls = Calls { path: rows::CALL, request: rows::work(WORK), load: CALLERS, pause: PAUSE };
    let load = async {
        sleep(Duration::from_secs_f64(seconds)).await;
        over.store(true, Relaxed);
    };
    let (worked, ()) = tokio::join!(counted.work(&clients, &calls, &over), load);
    worked?;
    let (_, after) = machine::memory(side.server.id())?;
    let executed = metrics::sum(admin, EXECUTED).await? - executed;
    let all = counted.take();
    println!("{}; {TAKEN} calls are taken, of {} callers, {WORK:?} each", machine::describe(), 10 * TAKEN);
    counted::print(&all);
    println!(
        "executed {executed}; anonymous memory {:.1} MiB before, {:.1} MiB after",
        mib(before),
        mib(after)
    );
    let served = all.get(&0).ok_or("nothing was served")?;
    let shed = all.get(&UNAVAILABLE).ok_or("nothing was shed")?;
    #[allow(clippy::cast_precision_loss)]
    let is_before_work = (executed - served.latency.len() as f64).abs() < 0.5;
    holds("what is shed is shed before work starts", is_before_work)?;
    holds("every refusal is UNAVAILABLE and says when to come back", {
        all.len() == 2 && shed.with_pushback == shed.latency.len()
    })?;
    holds("memory is bounded", after <= before + MEMORY)?;
    let p99 = Duration::from_micros(served.latency.value_at_quantile(0.99));
    holds("calls that are let in take at most twice their work", p99 <= 2 * WORK)
}
