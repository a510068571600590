//! The start: from the system starting the program until its first call is answered, its memory then, its size.

use std::{fs, path::Path, time::Instant};

use crate::{
    Result,
    client::histogram,
    machine,
    ours::{Ours, Scratch, TOKEN},
    rows::Row,
    side::Side,
};

/// Starts the server so many times, and prints what that took.
pub async fn run(program: &Path, rounds: usize) -> Result<()> {
    let scratch = Scratch::new()?;
    let ours = Ours { program, directory: scratch.path(), data: None, limits: "" };
    // The first makes the state file.
    started(&ours).await?;
    let mut listening = histogram()?;
    let mut ready = histogram()?;
    let mut idle = (0, 0);
    for _ in 0..rounds {
        let took = started(&ours).await?;
        listening.saturating_record(took.listening_us);
        ready.saturating_record(took.ready_us);
        idle = took.idle;
    }
    let ms = |us: u64| us as f64 / 1000.0;
    let spread = |of: &hdrhistogram::Histogram<u64>| {
        format!("{:.1} ms ({:.1}–{:.1})", ms(of.value_at_quantile(0.5)), ms(of.min()), ms(of.max()))
    };
    println!("{}, {rounds} starts", machine::describe());
    println!("exec → listening            {}", spread(&listening));
    println!("exec → first call answered  {}", spread(&ready));
    println!("idle, before any call       {} KiB resident, {} KiB of it anonymous", idle.0, idle.1);
    println!("program                     {} bytes", fs::metadata(program)?.len());
    Ok(())
}

/// What one start took.
struct Started {
    listening_us: u64,
    ready_us: u64,
    idle: (u64, u64),
}

async fn started(ours: &Ours<'_>) -> Result<Started> {
    let mut command = ours.command()?;
    let start = Instant::now();
    let side = Side::grpc("ours", &mut command, Some(TOKEN), 1).await?;
    let listening_us = u64::try_from(start.elapsed().as_micros())?;
    let idle = machine::memory(side.server.id())?;
    side.clients()?.answer(&Row::read()).await?;
    Ok(Started { listening_us, ready_us: u64::try_from(start.elapsed().as_micros())?, idle })
}
