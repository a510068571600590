//! Tools for clients of MCP, beside a bare rmcp server that answers with the very same bytes.

use std::{fs, path::Path, process::Command};

use serde_json::{Value, json};

use crate::{
    Result,
    http1::Http1,
    machine,
    ours::{Ours, Scratch, TOKEN},
    report::Report,
    rows::Row,
    run::{self, Table},
    side::{Side, start},
};

/// The newest revision, each of whose requests says what it needs.
const VERSION: &str = "2026-07-28";
/// A read whose result is cached.
const TOOL: &str = "get_technicals";

/// Measures, and prints. The other server is started by `bare`, and finds the result in the file that `RESULT` names.
pub async fn run(program: &Path, bare: &Path, table: &Table) -> Result<()> {
    let scratch = Scratch::new()?;
    let ours = Ours { program, directory: scratch.path(), data: None, limits: "" };
    let mut command = ours.command()?;
    let mut server = start(command.arg("--http=127.0.0.1:0"))?;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": TOOL, "arguments": {"symbol": "RELIANCE"}, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let client = |address| {
        Http1::new(address, "/mcp", body.clone())
            .with("accept", "application/json, text/event-stream")
            .with("mcp-protocol-version", VERSION)
            .with("mcp-method", "tools/call")
            .with("mcp-name", TOOL)
            .with("authorization", format!("Bearer {TOKEN}"))
    };
    let of_ours = client(server.http()?);
    // The first may say that it is fresh.
    result_of(&of_ours).await?;
    let result = result_of(&of_ours).await?;
    let file = scratch.path().join("result.json");
    fs::write(&file, result.to_string())?;

    let mut report = Report::new(machine::describe(), machine::memory(server.id())?);
    let bare = start(Command::new(bare).env("RESULT", &file))?;
    let of_bare = client(bare.address);
    compare(&result, &result_of(&of_bare).await?)?;
    let sides = [Side::http1("ours", server, of_ours), Side::http1("bare rmcp", bare, of_bare)];
    for row in [Row::read().under("tools/call, one at a time", 1, 1), Row::read().under("tools/call", 16, 1)]
    {
        run::rounds(&mut report, &sides, &row, table).await?;
    }
    print!("{report}");
    Ok(())
}

async fn result_of(client: &Http1) -> Result<Value> {
    let mut answer: Value = serde_json::from_slice(&client.answer().await?)?;
    match answer["result"].take() {
        result if result["structuredContent"].is_object() => Ok(result),
        _ => Err(format!("no data: {answer}").into()),
    }
}

/// The bytes are equal but for what each server says of itself, and the number of the call.
fn compare(ours: &Value, theirs: &Value) -> Result<()> {
    let said = |result: &Value| ["content", "structuredContent"].map(|key| result[key].clone());
    if said(ours) == said(theirs) { Ok(()) } else { Err(format!("bare rmcp answers with {theirs}").into()) }
}
