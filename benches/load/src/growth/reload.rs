//! Hot reload: how long until a change of the manifests is offered, and what calls notice of it.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use super::{MANY_TOOLS, manifests};
use crate::{
    Result,
    client::{Clients, Seen},
    exchange::Answer,
    machine,
    ours::{Ours, Scratch, TOKEN},
    rows::Row,
    side::Side,
};

const CALM: Duration = Duration::from_secs(3);
/// How the encoded event `CHANGED` of a watch begins: field 1, the type, is 2.
const CHANGED: [u8; 2] = [0x08, 2];
const ROUNDS: usize = 3;

pub async fn run(program: &Path, base: &Path, scratch: &Scratch) -> Result<()> {
    let data = scratch.path().join("data");
    manifests::write(base, &data, MANY_TOOLS)?;
    let ours = Ours { program, directory: scratch.path(), data: Some(&data), limits: "" };
    let side = Side::grpc("ours", &mut ours.command()?, Some(TOKEN), 4).await?;
    let watcher = Clients::connect(side.address(), Some(TOKEN), 1).await?;
    let mut watch = watcher.synced(0, &Row::watch()).await?;
    // Half of a processor, so that what waits does not wait for the load itself.
    let row = Row::read().under("load", 1, 2);
    for round in 1..=ROUNDS {
        let calm = side.load(&row, CALM).await?;
        let one = data.join("tools/made_00001.json");
        let text = fs::read_to_string(&one)?.replace("\"1.0.", "\"2.0.");
        let change = || Ok(fs::write(&one, &text)?);
        print("one manifest", &calm, &changed(&side, &row, &mut watch, 1, change).await?);

        let (new, tools) = (scratch.path().join("new"), data.join("tools"));
        manifests::make(base, &new, MANY_TOOLS, &format!("1.0.{round}"))?;
        let calm = side.load(&row, CALM).await?;
        let change = || {
            fs::rename(&tools, scratch.path().join(format!("old-{round}")))?;
            Ok(fs::rename(&new, &tools)?)
        };
        print("all manifests", &calm, &changed(&side, &row, &mut watch, MANY_TOOLS, change).await?);
    }
    println!("anonymous memory {} KiB", machine::memory(side.server.id())?.1);
    Ok(())
}

/// What a change took, and what calls saw meanwhile.
struct Changed {
    took: Duration,
    processor: Duration,
    seen: Seen,
}

/// Makes a change and waits until the watch has told of so many definitions, under load.
async fn changed(
    side: &Side,
    row: &Row,
    watch: &mut Answer,
    count: usize,
    change: impl FnOnce() -> Result<()>,
) -> Result<Changed> {
    let over = Arc::new(AtomicBool::new(false));
    let load = {
        let (clients, row, over) = (side.clients()?.clone(), row.clone(), Arc::clone(&over));
        tokio::spawn(async move { clients.load_until(&row, move || over.load(Ordering::Relaxed)).await })
    };
    let before = machine::processor_time(side.server.id())?;
    change()?;
    let start = Instant::now();
    let mut left = count;
    while left > 0 {
        let message = watch.message().await?.ok_or("the watch ended")?;
        left -= usize::from(message.starts_with(&CHANGED));
    }
    let took = start.elapsed();
    over.store(true, Ordering::Relaxed);
    let seen = load.await??;
    Ok(Changed { took, processor: machine::processor_time(side.server.id())? - before, seen })
}

fn print(what: &str, calm: &Seen, Changed { took, processor, seen }: &Changed) {
    let at = |seen: &Seen, quantile| seen.latency.value_at_quantile(quantile);
    println!(
        "{what:<14} offered after {:>5} ms, {:>5} ms of processor with the load; p99 calm {} µs, meanwhile {} µs; most {} / {} µs",
        took.as_millis(),
        processor.as_millis(),
        at(calm, 0.99),
        at(seen, 0.99),
        calm.latency.max(),
        seen.latency.max(),
    );
}
