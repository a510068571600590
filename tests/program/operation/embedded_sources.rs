//! Embedded sources answer within the process: no port but the service's own is open.

use std::{collections::BTreeSet, fs};

use rustix::process::Pid;
use serde_json::{Value, json};

use super::{call, hasty};

/// A tool of each source, and arguments that are good for it.
fn calls() -> [(&'static str, Value); 6] {
    [
        ("get_technicals", json!({"symbol": "TCS"})),
        ("browse_valuepickr", json!({})),
        ("browse_reddit", json!({})),
        ("get_news", json!({"symbol": "TCS"})),
        ("browse_screener", json!({})),
        ("get_insider_trading", json!({"symbol": "TCS"})),
    ]
}

/// The ports on which a process listens, as the kernel tells.
fn listening(process: Pid) -> Vec<u16> {
    let folder = format!("/proc/{}", process.as_raw_nonzero());
    let open = fs::read_dir(format!("{folder}/fd")).expect("running").filter_map(|entry| {
        let target = fs::read_link(entry.ok()?.path()).ok()?;
        Some(target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
    });
    let open: BTreeSet<_> = open.collect();
    let tables = ["tcp", "tcp6"].map(|table| fs::read_to_string(format!("{folder}/net/{table}")));
    let lines = tables.iter().flatten().flat_map(|table| table.lines().skip(1));
    let ports = lines.filter_map(|line| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let listens = *fields.get(3)? == "0A" && open.contains(*fields.get(9)?);
        let port = fields.get(1)?.rsplit(':').next()?;
        listens.then(|| u16::from_str_radix(port, 16).expect("hexadecimal"))
    });
    ports.collect()
}

#[tokio::test]
async fn nothing_listens_but_the_service_itself_while_embedded_sources_answer() {
    let program = hasty(&[]).await;
    let channel = program.channel().await;
    for (tool, input) in calls() {
        let answer = call(&channel, tool, input, None).await.expect("status OK");
        assert!(!format!("{answer:?}").contains("outcome: Some(Error"), "{tool}: {answer:?}");
    }
    assert_eq!(listening(program.pid()), [program.address.port()]);
}
