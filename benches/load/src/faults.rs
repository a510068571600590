//! The faults that load brings: more than the server can do, one user who takes all, readers who do not read, and what is
//! left behind in the long run. Each part ends with an error where what is promised does not hold.

mod counted;
mod fairness;
mod metrics;
mod overload;
mod slow_readers;
mod soak;

use clap::Subcommand;

use crate::{Program, Result};

/// What is measured.
#[derive(Debug, Subcommand)]
pub enum Faults {
    /// More calls than the server takes: what is shed, how, and what the others wait
    Overload {
        #[command(flatten)]
        program: Program,
        /// How long, in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
        seconds: f64,
    },
    /// One user's calls while another floods the server
    Fairness {
        #[command(flatten)]
        program: Program,
        /// How long each measurement takes, in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 3.0)]
        seconds: f64,
        /// How often each is measured
        #[arg(long, value_name = "COUNT", default_value_t = 5)]
        rounds: usize,
    },
    /// The server's memory while 1,000 clients read nothing of a long answer
    SlowReaders {
        #[command(flatten)]
        program: Program,
    },
    /// Tasks, descriptors and memory under a mixed load, every 10 s
    Soak {
        #[command(flatten)]
        program: Program,
        /// How long
        #[arg(long, value_name = "MINUTES", default_value_t = 10.0)]
        minutes: f64,
    },
}

/// Measures as asked, and prints.
pub async fn run(faults: &Faults) -> Result<()> {
    match faults {
        Faults::Overload { program, seconds } => overload::run(&program.server, *seconds).await,
        Faults::Fairness { program, seconds, rounds } => {
            fairness::run(&program.server, *seconds, *rounds).await
        }
        Faults::SlowReaders { program } => slow_readers::run(&program.server).await,
        Faults::Soak { program, minutes } => soak::run(&program.server, *minutes).await,
    }
}

/// Says whether a promise holds; an error if it does not.
fn holds(what: &str, holds: bool) -> Result<()> {
    println!("{what}: {}", if holds { "holds" } else { "DOES NOT HOLD" });
    if holds { Ok(()) } else { Err(format!("does not hold: {what}").into()) }
}

/// KiB as MiB.
fn mib(kib: u64) -> f64 {
    #[allow(clippy::cast_precision_loss)]
    let kib = kib as f64;
    kib / 1024.0
}
