//! A thousand clients that ask for much and take nothing: what the server keeps for them is bounded, and others go on.

use std::{path::Path, time::Duration};

use tokio::time::{Instant, sleep};

use super::{holds, mib};
use crate::{
    Result,
    client::Clients,
    exchange::Answer,
    machine,
    ours::{OTHER_TOKEN, OTHER_USER, Ours, Scratch, TOKEN},
    rows::{self, Load, Row},
    side::Side,
};

const READERS: Load = Load { connections: 10, streams: 100 };
/// What one user's events may take while nobody takes them: the default of `max_unread_per_user`, in KiB.
const UNREAD: u64 = 64 * 1024;
/// What a stream may take besides, in KiB: its task, and what HTTP/2 has of it.
const STREAM: u64 = 160;
/// The server fills up.
const FILL: Duration = Duration::from_secs(5);
const OBSERVED: Duration = Duration::from_secs(10);

pub async fn run(program: &Path) -> Result<()> {
    let scratch = Scratch::new()?;
    let ours = Ours { program, directory: scratch.path(), data: None, limits: OTHER_USER };
    let side = Side::grpc("ours", &mut ours.command()?, Some(TOKEN), 1).await?;
    let memory = || machine::memory(side.server.id()).map(|(_, anonymous)| anonymous);
    let other = Clients::connect(side.address(), Some(OTHER_TOKEN), 1).await?;
    let row = Row::read().under("one at a time", 1, 1);
    let calm = other.load(&row, OBSERVED / 4).await?;
    let before = memory()?;
    let clients = Clients::narrow(side.address(), Some(TOKEN), READERS.connections).await?;
    let mut readers: Vec<Answer> = Vec::new();
    for connection in clients.connections() {
        for _ in 0..READERS.streams {
            readers.push(connection.open(rows::INVOKE, rows::much(), "110S").await?);
        }
    }
    sleep(FILL).await;
    let mut most = memory()?;
    let (began, mut seen) = (Instant::now(), None);
    while began.elapsed() < OBSERVED {
        seen = Some(other.load(&row, Duration::from_secs(1)).await?);
        most = most.max(memory()?);
    }
    let seen = seen.ok_or("nothing was seen")?;
    println!("{}; {} clients that read nothing of 64 MB each", machine::describe(), readers.len());
    println!("anonymous memory {:.1} MiB before, {:.1} MiB at most", mib(before), mib(most));
    let p99 = |seen: &crate::client::Seen| seen.latency.value_at_quantile(0.99);
    println!("another user's calls: p99 {} µs calm, {} µs meanwhile, none failed", p99(&calm), p99(&seen));
    drop(readers);
    sleep(FILL).await;
    println!("anonymous memory {:.1} MiB after they left", mib(memory()?));
    let bound = UNREAD + STREAM * (READERS.connections * READERS.streams) as u64;
    holds(&format!("at most {:.0} MiB more", mib(bound)), most <= before + bound)
}
