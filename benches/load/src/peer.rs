//! Peers: servers of other makes that offer the same tool. See `benches/peers`.

use std::{fs, path::Path, process::Command, str::FromStr};

use prost::Message;

use crate::{
    Result,
    bare::Answer,
    side::Side,
    v1::{CallToolResponse, call_tool_response, tool_result},
};

/// A peer, and how it is started.
#[derive(Clone, Debug)]
pub struct Peer {
    name: String,
    protocol: Protocol,
    command: String,
}

#[derive(Clone, Copy, Debug)]
enum Protocol {
    Grpc,
    Mcp,
}

impl FromStr for Peer {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parts = text.split_once('=').and_then(|(name, rest)| Some((name, rest.split_once(':')?)));
        let (name, (protocol, command)) = parts.ok_or("not NAME=PROTOCOL:COMMAND")?;
        let protocol = match protocol {
            "grpc" => Protocol::Grpc,
            "mcp" => Protocol::Mcp,
            _ => return Err(format!("`{protocol}` is not grpc or mcp")),
        };
        Ok(Self { name: name.to_owned(), protocol, command: command.to_owned() })
    }
}

/// Starts the peers. They find what our server answered in the file that `ANSWERS` names.
pub async fn start(peers: &[Peer], answers: &Path, connections: usize) -> Result<Vec<Side>> {
    let mut sides = Vec::new();
    for Peer { name, protocol, command } in peers {
        let mut words = command.split_whitespace();
        let mut command = Command::new(words.next().ok_or("no command")?);
        command.args(words).env("ANSWERS", answers);
        sides.push(match protocol {
            Protocol::Grpc => Side::grpc(name, &mut command, None, connections).await?,
            Protocol::Mcp => compared(Side::mcp(name, &mut command)?, answers).await?,
        });
    }
    Ok(sides)
}

/// A peer that answers with the same JSON as ours.
async fn compared(side: Side, answers: &Path) -> Result<Side> {
    let answers: Vec<Answer> = serde_json::from_slice(&fs::read(answers)?)?;
    let first = answers.first().and_then(|answer| answer.messages.first()).ok_or("no answer")?;
    let ours = data_json(&CallToolResponse::decode(&first[..])?).ok_or("no result as JSON")?.to_owned();
    let theirs = match side.mcp_client() {
        Some(mcp) => mcp.answer().await?,
        None => return Ok(side),
    };
    if ours == theirs {
        return Ok(side);
    }
    Err(format!("{} answers with {theirs} instead of {ours}", side.name).into())
}

fn data_json(response: &CallToolResponse) -> Option<&str> {
    let call_tool_response::Outcome::Result(result) = response.outcome.as_ref()? else { return None };
    match result.outcome.as_ref()? {
        tool_result::Outcome::DataJson(json) => Some(json),
        _ => None,
    }
}
