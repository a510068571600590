//! Load on a Toolwire server, and on a bare tonic service that answers with the very same bytes.
//!
//! `cargo run --release -p toolwire-load -- --against bare` prints what a request costs each of them: processor time of
//! the server, by the system's own accounting, throughput and latency. The two are loaded in turn, round by round, so
//! that a machine whose speed drifts slows both; the ratio is what counts. How to read it: docs/PERFORMANCE.md.

#![allow(clippy::disallowed_methods, reason = "what measures has no clock but the real one")]

mod bare;
mod client;
mod machine;
mod report;
mod rows;
mod run;
mod server;

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, ValueEnum};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The messages of the contract.
#[allow(dead_code, clippy::all, clippy::pedantic)]
mod v1 {
    tonic::include_proto!("toolwire.v1");
}

/// Loads a Toolwire server and prints what a request costs it
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// The program to serve
    #[arg(long, value_name = "FILE", default_value = "target/release/toolwire")]
    server: PathBuf,
    /// Beside it, in turn, what answers with the same bytes
    #[arg(long, value_enum)]
    against: Option<Against>,
    /// Only the rows whose name contains TEXT; may be given several times
    #[arg(long, value_name = "TEXT")]
    row: Vec<String>,
    /// How often each row is measured
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    rounds: usize,
    /// How long each measurement takes, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    seconds: f64,
    /// Exports traces of one call in a hundred, and metrics, to a collector that takes everything
    #[arg(long)]
    otlp: bool,
    /// Also writes every figure as JSON to FILE
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Serves the answers in FILE; how the program starts itself for `--against bare`
    #[arg(long, value_name = "FILE", hide = true)]
    serve_answers: Option<PathBuf>,
}

/// What the server is compared with.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Against {
    /// A bare tonic service, of the same profile and allocator
    Bare,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let result = match &options.serve_answers {
        Some(answers) => bare::serve(answers),
        None => run::run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("toolwire-load: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What went wrong, for whoever reads the terminal.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;
