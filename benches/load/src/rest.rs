//! REST, beside a bare axum service that answers with the very same bytes; the first byte of a stream of events; and a
//! thousand such streams, half of which nobody reads.

use std::{
    env, fs,
    io::Write,
    net::SocketAddr,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http_body_util::BodyExt;
use tokio::time::sleep;

use crate::{
    Result,
    client::histogram,
    http1::Http1,
    machine,
    ours::{Ours, Scratch, TOKEN},
    report::Report,
    rows::{Row, SYMBOLS},
    run::{self, Table},
    side::{Side, start},
};

/// What is called.
const CALL: &str = "/v1/tools/get_quotes:call";
/// One event after another, for as long as the streams are looked at.
const EVENTS: (&str, &str) =
    ("/v1/tools/debug_sleep:invoke", r#"{"duration":"60s","progress_interval":"0.1s"}"#);
/// One event at once, and the end.
const FIRST: (&str, &str) = ("/v1/tools/get_quotes:invoke", r#"{"symbol":"AAPL"}"#);
const STREAMS: usize = 1_000;
/// What each may take, in KiB.
const OF_STREAM: u64 = 64;
/// So often the first byte is waited for.
const FIRST_BYTES: usize = 500;
/// The streams say what they have to say.
const FILL: Duration = Duration::from_secs(5);
/// One machine is one peer.
const LIMITS: &str =
    "trusted_peers = [\"127.0.0.0/8\"]\nmax_concurrent_calls = 4096\nmax_calls_per_user = 4096\n";

/// Measures, and prints.
pub async fn run(program: &Path, table: &Table) -> Result<()> {
    let scratch = Scratch::new()?;
    let ours = Ours { program, directory: scratch.path(), data: None, limits: LIMITS };
    let mut command = ours.command()?;
    let mut server = start(command.arg("--http=127.0.0.1:0"))?;
    let token = format!("Bearer {TOKEN}");
    let body = format!(r#"{{"symbol":"{SYMBOLS}"}}"#);
    let client = Http1::new(server.http()?, CALL, body.clone()).with("authorization", &token);
    // The first may say that it is fresh.
    client.answer().await?;
    let answer = scratch.path().join("answer.json");
    fs::write(&answer, client.answer().await?)?;
    first_byte(&client.at(FIRST.0, FIRST.1)).await?;

    let mut report = Report::new(machine::describe(), machine::memory(server.id())?);
    let bare = start(Command::new(env::current_exe()?).arg("--serve-body").arg(&answer))?;
    let of_bare = Http1::new(bare.address, CALL, body).with("authorization", &token);
    let events = client.at(EVENTS.0, EVENTS.1);
    let sides = [Side::http1("ours", server, client), Side::http1("bare axum", bare, of_bare)];
    for row in [Row::read().under("REST, one at a time", 1, 1), Row::read().under("REST :call", 16, 1)] {
        run::rounds(&mut report, &sides, &row, table).await?;
    }
    print!("{report}");
    streams(&events, sides[0].server.id()).await
}

/// How soon the first byte of events is there.
async fn first_byte(client: &Http1) -> Result<()> {
    let (sender, mut seen) = (client.connect().await?, histogram()?);
    for _ in 0..FIRST_BYTES {
        let began = Instant::now();
        let mut body = client.begin(&sender).await?.into_body();
        body.frame().await.ok_or("no event")??;
        seen.saturating_record(u64::try_from(began.elapsed().as_micros())?);
        body.collect().await?;
    }
    let at = |quantile| seen.value_at_quantile(quantile);
    println!("first byte of events: p50 {} µs, p99 {} µs, at most {} µs", at(0.5), at(0.99), seen.max());
    Ok(())
}

/// What streams of events take, half of them unread.
async fn streams(client: &Http1, server: u32) -> Result<()> {
    let memory = || machine::memory(server).map(|(_, anonymous)| anonymous);
    let before = memory()?;
    let (mut stalled, mut readers) = (Vec::new(), Vec::new());
    for number in 0..STREAMS {
        let sender = client.connect().await?;
        let mut body = client.begin(&sender).await?.into_body();
        if number % 2 == 0 {
            stalled.push((sender, body));
        } else {
            readers.push(tokio::spawn(async move {
                while let Some(Ok(_)) = body.frame().await {}
                drop(sender);
            }));
        }
    }
    sleep(FILL).await;
    let meanwhile = memory()?;
    for reader in &readers {
        reader.abort();
    }
    drop((stalled, readers));
    sleep(FILL).await;
    let of_stream = meanwhile.saturating_sub(before) / STREAMS as u64;
    println!(
        "{STREAMS} streams of events, half of them unread: {of_stream} KiB each; anonymous memory in KiB: {before} before, {meanwhile} meanwhile, {} after",
        memory()?
    );
    let what = format!("at most {OF_STREAM} KiB each");
    if of_stream > OF_STREAM { Err(format!("does not hold: {what}").into()) } else { Ok(()) }
}

/// Serves the answer in a file at [`CALL`] until the process is ended, and says where.
pub fn serve(answer: &Path) -> Result<()> {
    let answer = Bytes::from(fs::read(answer)?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        use axum::{Router, extract::Path, http::header::CONTENT_TYPE, routing::post, serve::ListenerExt};
        let listener = tokio::net::TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
        let mut out = std::io::stdout();
        writeln!(out, "toolwire listening on {}", listener.local_addr()?)?;
        out.flush()?;
        // As ours has it.
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        let answered = async move |Path(_): Path<String>, _: Bytes| {
            ([(CONTENT_TYPE, "application/json")], answer.clone())
        };
        axum::serve(listener, Router::new().route("/v1/tools/{call}", post(answered))).await?;
        Ok(())
    })
}
