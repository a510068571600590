//! The table: starts the servers, loads them in turn, and hands over what was seen.

use std::{env, fs, path::Path, process::Command, time::Duration};

use bytes::Bytes;
use clap::{Args, ValueEnum};
use prost::Message;

use crate::{
    Result,
    bare::Answer,
    client::Clients,
    collector, machine,
    ours::{Ours, Scratch, TOKEN},
    peer::{self, Peer},
    report::Report,
    rows::{self, Row},
    side::{Side, WARM_UP},
    v1::{CallToolResponse, call_tool_response, tool_result},
};

/// What is measured, and how long.
#[derive(Debug, Default, Args)]
pub struct Table {
    /// Beside it, in turn, what answers with the same bytes
    #[arg(long, value_enum)]
    pub against: Option<Against>,
    /// Beside it too, in the first row, what COMMAND starts: it speaks PROTOCOL, grpc or mcp
    #[arg(long, value_name = "NAME=PROTOCOL:COMMAND")]
    pub peer: Vec<Peer>,
    /// Our server exports 1 % of its traces, and its metrics, over OTLP
    #[arg(long)]
    pub otlp: bool,
    /// Only the rows whose name contains TEXT; may be given several times
    #[arg(long, value_name = "TEXT")]
    pub row: Vec<String>,
    /// How often each row is measured
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    pub rounds: usize,
    /// How long each measurement takes, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    pub seconds: f64,
    /// Also writes every figure as JSON to FILE
    #[arg(long, value_name = "FILE")]
    pub json: Option<std::path::PathBuf>,
}

/// What the server is compared with.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Against {
    /// A bare tonic service, of the same profile and allocator
    Bare,
}

/// Measures as the options say, and prints.
pub async fn run(program: &Path, table: &Table) -> Result<()> {
    let rows: Vec<Row> = rows::all()
        .into_iter()
        .filter(|row| table.row.is_empty() || table.row.iter().any(|text| row.name.contains(text)))
        .collect();
    if rows.is_empty() {
        return Err("no row has such a name".into());
    }
    let scratch = Scratch::new()?;
    let ours = Ours { program, directory: scratch.path(), data: None, limits: "" };
    let report = measure(&ours, table, &rows).await?;
    print!("{report}");
    if let Some(file) = &table.json {
        fs::write(file, serde_json::to_vec_pretty(&report)?)?;
    }
    Ok(())
}

/// Measures these rows.
pub async fn measure(ours: &Ours<'_>, table: &Table, rows: &[Row]) -> Result<Report> {
    let most = rows.iter().map(|row| row.load.connections).max().unwrap_or(1);
    let mut command = ours.command()?;
    if table.otlp {
        command.envs(collector::start().await?);
    }
    let mut sides = vec![Side::grpc("ours", &mut command, Some(TOKEN), most).await?];
    let mut report = Report::new(machine::describe(), machine::memory(sides[0].server.id())?);
    let answers = ours.directory.join("answers.json");
    if table.against.is_some() || !table.peer.is_empty() {
        fs::write(&answers, record(sides[0].clients()?, rows).await?)?;
    }
    if table.against == Some(Against::Bare) {
        let command = &mut Command::new(env::current_exe()?);
        sides.push(Side::grpc("bare", command.arg("--serve-answers").arg(&answers), None, most).await?);
    }
    let everywhere = sides.len();
    sides.extend(peer::start(&table.peer, &answers, most).await?);
    for row in rows {
        let has_peers = row.name == Row::read().name;
        let sides = if has_peers { &sides[..] } else { &sides[..everywhere] };
        rounds(&mut report, sides, row, table).await?;
        eprintln!("{}", row.name);
    }
    Ok(report)
}

/// Loads each server with a row in turn, round by round.
pub async fn rounds(report: &mut Report, sides: &[Side], row: &Row, table: &Table) -> Result<()> {
    for side in sides {
        side.load(row, WARM_UP).await?;
    }
    for _ in 0..table.rounds {
        for side in sides {
            report.add(
                row.name,
                &side.name,
                side.measure(row, Duration::from_secs_f64(table.seconds)).await?,
            );
        }
    }
    Ok(())
}

/// Keeps what the server answers, for others to say it too.
async fn record(clients: &Clients, rows: &[Row]) -> Result<Vec<u8>> {
    let mut answers = Vec::new();
    for row in rows {
        // The first may say that it is fresh; later ones come as the load sees them.
        clients.answer(row).await?;
        let messages = clients.answer(row).await?;
        if row.path == rows::CALL && !has_data(&messages) {
            return Err(format!("{}: answered with an error", row.name).into());
        }
        let size: usize = messages.iter().map(Bytes::len).sum();
        eprintln!("{}: an answer of {size} bytes", row.name);
        answers.push(Answer {
            path: row.path.to_owned(),
            request: row.request[5..].to_vec(),
            messages: messages.iter().map(|message| message.to_vec()).collect(),
        });
    }
    Ok(serde_json::to_vec(&answers)?)
}

/// Whether a call brought data: an error of the tool is answered with OK too.
fn has_data(messages: &[Bytes]) -> bool {
    let response = messages.first().and_then(|message| CallToolResponse::decode(message.clone()).ok());
    let Some(call_tool_response::Outcome::Result(result)) = response.and_then(|it| it.outcome) else {
        return false;
    };
    matches!(result.outcome, Some(tool_result::Outcome::Data(_) | tool_result::Outcome::DataJson(_)))
}
