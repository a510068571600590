//! Writes, each with a `request_id` of its own, until 100,000 are remembered: what one costs at first and at the end.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use crate::{
    Result,
    client::{self, Seen},
    machine,
    ours::{Ours, Scratch, TOKEN},
    report::{Figures, Report},
    rows::{self, Row},
    side::Side,
};

const REMEMBERED: u64 = 100_000;
/// How many writes make one line of the table.
const STEP: u64 = 20_000;

pub async fn run(program: &Path, scratch: &Scratch) -> Result<()> {
    let ours = Ours { program, directory: scratch.path(), data: None, limits: "" };
    let side = Side::grpc("ours", &mut ours.command()?, Some(TOKEN), rows::MANY.connections).await?;
    let idle = machine::memory(side.server.id())?;
    let mut report = Report::new(machine::describe(), idle);
    let mut steps = Vec::new();
    let next = Arc::new(AtomicU64::new(0));
    for step in 0..=REMEMBERED / STEP {
        steps.push((step * STEP, write(&side, &next, (step + 1) * STEP).await?));
    }
    for (before, figures) in steps.into_iter().rev() {
        report.add("write with request_id", &format!("{before}"), figures);
    }
    print!("{report}");
    let (_, anonymous) = machine::memory(side.server.id())?;
    println!("anonymous memory before {} KiB, after {anonymous} KiB", idle.1);
    Ok(())
}

/// Writes until so many have been made.
async fn write(side: &Side, next: &Arc<AtomicU64>, until: u64) -> Result<Figures> {
    let before = machine::processor_time(side.server.id())?;
    let start = Instant::now();
    let clients = side.clients()?;
    let over = Arc::clone(next);
    let Seen { requests, latency } = client::work(
        rows::MANY,
        move || over.load(Ordering::Relaxed) >= until,
        |connection| {
            let (connection, next) = (clients.connections()[connection].clone(), Arc::clone(next));
            move || {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let row = Row::write(&format!("0196f1c2-7a4b-7c3d-8e5f-{number:012x}"));
                client::exchange(connection.clone(), row)
            }
        },
    )
    .await?;
    let after = machine::processor_time(side.server.id())?;
    Ok(Figures::new(requests, start.elapsed(), after - before, &latency))
}
