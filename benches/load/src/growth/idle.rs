//! Streams on which nothing happens: how much memory each takes.

use std::{path::Path, time::Duration};

use tokio::time::sleep;

use crate::{
    Result,
    client::Clients,
    exchange::Answer,
    machine,
    ours::{Ours, Scratch, TOKEN},
    rows::{self, Row},
    side::Side,
};

const CONNECTIONS: usize = 100;
const STREAMS: usize = 100;
const LIMITS: &str = "max_watches = 20000\nmax_watches_per_user = 20000\n\
    max_concurrent_calls = 20000\nmax_calls_per_user = 20000";
/// Until what the beginning of the streams took has been given back.
const SETTLE: Duration = Duration::from_secs(3);

/// What the streams are of.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Watches in step.
    Watches,
    /// Calls of a tool that sleeps.
    Calls,
}

pub async fn run(program: &Path, scratch: &Scratch, kind: Kind) -> Result<()> {
    let ours = Ours { program, directory: scratch.path(), data: None, limits: LIMITS };
    let side = Side::grpc("ours", &mut ours.command()?, Some(TOKEN), 1).await?;
    let memory = || machine::memory(side.server.id()).map(|(_, anonymous)| anonymous);
    // What the first of each makes once is no stream's.
    drop(open(side.clients()?, kind, 0).await?);
    let idle = memory()?;
    let clients = Clients::connect(side.address(), Some(TOKEN), CONNECTIONS).await?;
    for connection in 0..CONNECTIONS {
        clients.answer_on(connection, &Row::read()).await?;
    }
    sleep(SETTLE).await;
    let connected = memory()?;
    let mut streams = Vec::new();
    for _ in 0..STREAMS {
        for connection in 0..CONNECTIONS {
            streams.push(open(&clients, kind, connection).await?);
        }
    }
    sleep(SETTLE).await;
    let held = memory()?;
    #[allow(clippy::cast_precision_loss)]
    let each = |before: u64, after: u64, count: usize| after.saturating_sub(before) as f64 / count as f64;
    println!("{} streams of {kind:?} on {CONNECTIONS} connections", streams.len());
    println!("each connection  {:.1} KiB", each(idle, connected, CONNECTIONS));
    println!("each stream      {:.1} KiB", each(connected, held, streams.len()));
    println!("anonymous memory {idle} KiB before, {connected} KiB connected, {held} KiB with the streams");
    Ok(())
}

async fn open(clients: &Clients, kind: Kind, connection: usize) -> Result<Answer> {
    match kind {
        Kind::Watches => clients.synced(connection, &Row::watch()).await,
        Kind::Calls => {
            let connection = &clients.connections()[connection];
            let mut answer = connection.open(rows::INVOKE, rows::sleep(), "110S").await?;
            answer.message().await?.ok_or("ended at once")?;
            Ok(answer)
        }
    }
}
