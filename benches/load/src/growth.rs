//! How costs grow: with the number of tools, of requests under way, of remembered `request_id`s, of idle streams.

mod idle;
mod manifests;
mod reload;
mod request_ids;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use self::idle::Kind;
use crate::{
    Result, machine,
    ours::{Ours, Scratch, TOKEN},
    report::Report,
    rows::{self, Row},
    run::{self, Against, Table},
    side::Side,
};

const FEW_TOOLS: usize = 10;
const MANY_TOOLS: usize = 10_000;

/// What is measured, and how long.
#[derive(Debug, Args)]
pub struct Growth {
    /// Only this; may be given several times
    #[arg(long, value_enum)]
    part: Vec<Part>,
    /// Manifests and data to begin with
    #[arg(long, value_name = "DIR", default_value = "data")]
    data: PathBuf,
    /// How often each is measured
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    rounds: usize,
    /// How long each measurement takes, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    seconds: f64,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Part {
    /// A call among 10 tools and among 10,000
    Tools,
    /// A call when 1, 16, 64 and 1,000 are under way
    Streams,
    /// All of 10,000 definitions, against a bare service that answers with the same bytes
    Listings,
    /// The change of one manifest, and of all, of 10,000
    Reload,
    /// A write when few and when 100,000 are remembered
    RequestIds,
    /// The memory of 10,000 idle watches
    IdleWatches,
    /// The memory of 10,000 calls that wait
    IdleCalls,
}

/// Measures as asked, and prints.
pub async fn run(program: &Path, growth: &Growth) -> Result<()> {
    for part in Part::value_variants() {
        if growth.part.is_empty() || growth.part.contains(part) {
            println!("\n== {part:?}");
            measure(program, growth, *part).await?;
        }
    }
    Ok(())
}

async fn measure(program: &Path, growth: &Growth, part: Part) -> Result<()> {
    let scratch = Scratch::new()?;
    match part {
        Part::Tools => tools(program, growth, &scratch).await,
        Part::Streams => streams(program, growth, &scratch).await,
        Part::Listings => listings(program, growth, &scratch).await,
        Part::Reload => reload::run(program, &growth.data, &scratch).await,
        Part::RequestIds => request_ids::run(program, &scratch).await,
        Part::IdleWatches => idle::run(program, &scratch, Kind::Watches).await,
        Part::IdleCalls => idle::run(program, &scratch, Kind::Calls).await,
    }
}

async fn tools(program: &Path, growth: &Growth, scratch: &Scratch) -> Result<()> {
    let mut sides = Vec::new();
    for count in [MANY_TOOLS, FEW_TOOLS] {
        let directory = scratch.directory(&count.to_string())?;
        let data = directory.join("data");
        manifests::write(&growth.data, &data, count)?;
        let ours = Ours { program, directory: &directory, data: Some(&data), limits: "" };
        let connections = rows::MANY.connections;
        sides.push(
            Side::grpc(format!("{count} tools"), &mut ours.command()?, Some(TOKEN), connections).await?,
        );
    }
    let mut report = Report::new(machine::describe(), machine::memory(sides[0].server.id())?);
    run::rounds(&mut report, &sides, &Row::read(), &growth.table()).await?;
    print!("{report}");
    Ok(())
}

async fn streams(program: &Path, growth: &Growth, scratch: &Scratch) -> Result<()> {
    let ours = Ours { program, directory: scratch.path(), data: None, limits: "" };
    let rows = [
        Row::read().under("1 stream", 1, 1),
        Row::read().under("16 streams", 1, 16),
        Row::read(),
        Row::read().under("1,000 streams", 10, 100),
    ];
    let table = Table { against: Some(Against::Bare), ..growth.table() };
    print!("{}", run::measure(&ours, &table, &rows).await?);
    Ok(())
}

async fn listings(program: &Path, growth: &Growth, scratch: &Scratch) -> Result<()> {
    let data = scratch.path().join("data");
    manifests::write(&growth.data, &data, MANY_TOOLS)?;
    let ours = Ours { program, directory: scratch.path(), data: Some(&data), limits: "" };
    let table = Table { against: Some(Against::Bare), ..growth.table() };
    print!("{}", run::measure(&ours, &table, &rows::listings()).await?);
    Ok(())
}

impl Growth {
    fn table(&self) -> Table {
        Table { rounds: self.rounds, seconds: self.seconds, ..Table::default() }
    }
}
