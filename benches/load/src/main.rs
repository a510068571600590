//! Load on a Toolwire server, and on a bare tonic service that answers with the very same bytes.
//!
//! `cargo run --release -p toolwire-load -- --against bare` prints what a request costs each of them: processor time of
//! the server, by the system's own accounting, throughput and latency. The two are loaded in turn, round by round, so
//! that a machine whose speed drifts slows both; the ratio is what counts. How to read it: docs/PERFORMANCE.md.

#![allow(clippy::disallowed_methods, reason = "what measures has no clock but the real one")]

mod bare;
mod client;
mod collector;
mod exchange;
mod faults;
mod growth;
mod http1;
mod machine;
mod mcp;
mod mcp_face;
mod ours;
mod peer;
mod report;
mod rest;
mod rows;
mod run;
mod server;
mod side;
mod start;
mod stops;

use std::{env, path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The messages of the contract.
#[allow(dead_code, clippy::all, clippy::pedantic)]
mod v1 {
    tonic::include_proto!("toolwire.v1");
}

/// Loads a Toolwire server and prints what a request costs it
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
struct Options {
    #[command(subcommand)]
    measurement: Option<Measurement>,
    #[command(flatten)]
    program: Program,
    #[command(flatten)]
    table: run::Table,
    /// Serves the answers in FILE; how the program starts itself for `--against bare`
    #[arg(long, value_name = "FILE", hide = true)]
    serve_answers: Option<PathBuf>,
    /// Serves the answer in FILE over HTTP; how the program starts itself for `rest`
    #[arg(long, value_name = "FILE", hide = true)]
    serve_body: Option<PathBuf>,
}

/// What is measured instead of the table of rows.
#[derive(Debug, Subcommand)]
enum Measurement {
    /// How the costs grow with tools, streams and what is remembered
    Growth {
        #[command(flatten)]
        program: Program,
        #[command(flatten)]
        growth: growth::Growth,
    },
    /// How soon calls stop that are cancelled or whose deadline passes, under load
    Stops {
        #[command(flatten)]
        program: Program,
        /// How many calls of each kind
        #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
        calls: u64,
    },
    #[command(flatten)]
    Faults(faults::Faults),
    /// What a request costs over REST, beside a bare axum service; and what streams of events take
    Rest {
        #[command(flatten)]
        program: Program,
        /// How often each row is measured
        #[arg(long, value_name = "COUNT", default_value_t = 5)]
        rounds: usize,
        /// How long each measurement takes, in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
        seconds: f64,
    },
    /// What a call costs a client of MCP, beside a bare rmcp server with the same bytes
    Mcp {
        #[command(flatten)]
        program: Program,
        /// That server: benches/peers/run builds it
        #[arg(long, value_name = "FILE")]
        bare: PathBuf,
        /// How often each row is measured
        #[arg(long, value_name = "COUNT", default_value_t = 5)]
        rounds: usize,
        /// How long each measurement takes, in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
        seconds: f64,
    },
    /// From exec to the first answer, idle memory, size of the program
    Start {
        #[command(flatten)]
        program: Program,
        /// How many starts
        #[arg(long, value_name = "COUNT", default_value_t = 20)]
        rounds: usize,
    },
}

#[derive(Debug, clap::Args)]
struct Program {
    /// The program to serve [default: the `toolwire` that was built beside this program]
    #[arg(long, value_name = "FILE", default_value_os_t = beside(), hide_default_value = true)]
    server: PathBuf,
}

/// The server of the same profile.
fn beside() -> PathBuf {
    env::current_exe().map_or_else(|_| "toolwire".into(), |this| this.with_file_name("toolwire"))
}

fn main() -> ExitCode {
    let options = Options::parse();
    let result = match (&options.serve_answers, &options.serve_body) {
        (Some(answers), _) => bare::serve(answers),
        (None, Some(answer)) => rest::serve(answer),
        (None, None) => measure(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("toolwire-load: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(options: &Options) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match &options.measurement {
            None => run::run(&options.program.server, &options.table).await,
            Some(Measurement::Growth { program, growth }) => growth::run(&program.server, growth).await,
            Some(Measurement::Stops { program, calls }) => stops::run(&program.server, *calls).await,
            Some(Measurement::Faults(faults)) => faults::run(faults).await,
            Some(Measurement::Rest { program, rounds, seconds }) => {
                let table = run::Table { rounds: *rounds, seconds: *seconds, ..run::Table::default() };
                rest::run(&program.server, &table).await
            }
            Some(Measurement::Mcp { program, bare, rounds, seconds }) => {
                let table = run::Table { rounds: *rounds, seconds: *seconds, ..run::Table::default() };
                mcp_face::run(&program.server, bare, &table).await
            }
            Some(Measurement::Start { program, rounds }) => start::run(&program.server, *rounds).await,
        }
    })
}

/// What went wrong, for whoever reads the terminal.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;
