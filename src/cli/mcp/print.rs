//! The configuration by which a client of MCP finds this program or a server.

use std::env;

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use crate::{connection::Connection, settings::quote};
use toolwire_server::console::{self, Failure};

/// A client whose configuration is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    Vscode,
}

/// Prints it for the tools that are selected.
pub(super) fn run(client: Client, connection: &Connection) -> Result<(), Failure> {
    let program = env::current_exe().map_err(|error| Failure::Failed(format!("no path: {error}")))?;
    let url = connection.url()?.map(|url| url.to_string());
    let for_mcp = url.as_deref().and_then(for_mcp);
    let reach = match &for_mcp {
        Some(url) => Reach::Url(url),
        None => {
            Reach::Program { path: &program.display().to_string(), flags: &connection.to_words_elsewhere()? }
        }
    };
    // A token is for a server.
    let has_token = url.is_some() && connection.has_token();
    let snippet = snippet(client, reach, has_token);
    console::print(&snippet.map_err(|what| Failure::Usage(what.to_owned()))?)
}

/// How the client reaches the tools.
#[derive(Clone, Copy, Debug)]
enum Reach<'a> {
    /// It starts this program, with these flags after the command.
    Program { path: &'a str, flags: &'a [String] },
    /// It sends its requests to this URL.
    Url(&'a str),
}

/// A server's URL for MCP, whose path ends in `/mcp`, without a slash after it; any other is its address for gRPC.
fn for_mcp(url: &str) -> Option<String> {
    let (path, rest) = url.split_at(url.find(['?', '#']).unwrap_or(url.len()));
    let path = path.trim_end_matches('/');
    path.ends_with("/mcp").then(|| format!("{path}{rest}"))
}

/// What the client's configuration file holds, or the command that writes it. A token is named and never shown.
fn snippet(client: Client, reach: Reach<'_>, has_token: bool) -> Result<String, &'static str> {
    if let (Client::ClaudeDesktop, Reach::Url(_)) = (client, reach) {
        return Err("Claude Desktop starts a program and takes no URL: give the server's address for gRPC");
    }
    Ok(match client {
        Client::ClaudeCode => command(reach, has_token),
        Client::ClaudeDesktop => file("mcpServers", &entry(reach, has_token.then_some("YOUR TOKEN"))),
        Client::Cursor => file("mcpServers", &entry(reach, has_token.then_some("${env:TOOLWIRE_TOKEN}"))),
        Client::Vscode => vscode(reach, has_token),
    })
}

fn file(key: &str, entry: &Value) -> String {
    format!("{:#}", json!({key: {"toolwire": entry}}))
}

fn entry(reach: Reach<'_>, token: Option<&str>) -> Value {
    let mut entry = Map::new();
    match reach {
        Reach::Program { path, flags } => {
            entry.insert("command".to_owned(), path.into());
            entry.insert("args".to_owned(), arguments(flags).into());
            if let Some(token) = token {
                entry.insert("env".to_owned(), json!({"TOOLWIRE_TOKEN": token}));
            }
        }
        Reach::Url(url) => {
            entry.insert("url".to_owned(), url.into());
            if let Some(token) = token {
                entry.insert("headers".to_owned(), json!({"Authorization": format!("Bearer {token}")}));
            }
        }
    }
    entry.into()
}

fn arguments(flags: &[String]) -> Vec<&str> {
    ["mcp"].into_iter().chain(flags.iter().map(String::as_str)).collect()
}

/// Visual Studio Code names the transport, and asks for a token once and keeps it.
fn vscode(reach: Reach<'_>, has_token: bool) -> String {
    let kind = if matches!(reach, Reach::Url(_)) { "http" } else { "stdio" };
    let mut typed = Map::from_iter([("type".to_owned(), kind.into())]);
    if let Value::Object(entry) = entry(reach, has_token.then_some("${input:toolwire-token}")) {
        typed.extend(entry);
    }
    let mut file = json!({"servers": {"toolwire": typed}});
    if has_token {
        let input = json!({"id": "toolwire-token", "type": "promptString", "description": "Token of Toolwire", "password": true});
        file["inputs"] = json!([input]);
    }
    format!("{file:#}")
}

/// For a shell, which fills in the token.
fn command(reach: Reach<'_>, has_token: bool) -> String {
    match reach {
        Reach::Program { path, flags } => {
            let token = if has_token { " --env TOOLWIRE_TOKEN=\"$TOOLWIRE_TOKEN\"" } else { "" };
            let program: Vec<_> = [path].into_iter().chain(arguments(flags)).map(quote).collect();
            format!("claude mcp add toolwire{token} -- {}", program.join(" "))
        }
        Reach::Url(url) => {
            let token = if has_token { " --header \"Authorization: Bearer $TOOLWIRE_TOKEN\"" } else { "" };
            format!("claude mcp add --transport http toolwire {}{token}", quote(url))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "/home/you/shop/.venv/bin/toolwire";
    const GRPC: &str = "http://127.0.0.1:50051";
    const URL: &str = "http://127.0.0.1:50080/mcp";

    fn printed(client: Client, server: Option<&str>, has_token: bool) -> Result<String, &'static str> {
        let flags: Vec<_> =
            server.into_iter().flat_map(|url| ["--server".to_owned(), url.to_owned()]).collect();
        let url = server.and_then(for_mcp);
        let reach = match &url {
            Some(url) => Reach::Url(url),
            None => Reach::Program { path: PROGRAM, flags: &flags },
        };
        snippet(client, reach, has_token)
    }

    #[test]
    fn the_page_shows_what_is_printed() {
        let page = include_str!("../../../docs/MCP.md");
        let mut shown: Vec<&str> = page.split("```").skip(1).step_by(2).collect();
        for client in Client::value_variants() {
            for server in [None, Some(GRPC), Some(URL)] {
                for has_token in [false, true] {
                    let Ok(text) = printed(*client, server, has_token) else { continue };
                    shown.retain(|block| !block.ends_with(&format!("\n{text}\n")));
                }
            }
        }
        shown.retain(|block| block.contains("\"toolwire\": {") || block.contains("claude mcp add"));
        assert!(shown.is_empty(), "the page has what no command prints: {shown:?}");
    }

    #[test]
    fn each_file_is_json_and_names_no_token() {
        for client in [Client::ClaudeDesktop, Client::Cursor, Client::Vscode] {
            for has_token in [false, true] {
                let file: Value =
                    serde_json::from_str(&printed(client, Some(GRPC), has_token).unwrap()).unwrap();
                let key = if client == Client::Vscode { "servers" } else { "mcpServers" };
                assert_eq!(file[key]["toolwire"]["args"], json!(["mcp", "--server", GRPC]));
                assert_eq!(file[key]["toolwire"]["env"].is_object(), has_token);
            }
        }
    }

    #[test]
    fn a_url_for_mcp_is_used_as_it_is_and_any_other_by_the_program() {
        let by_url = printed(Client::Cursor, Some("https://tools.example/mcp?tags=market"), false).unwrap();
        assert!(by_url.contains(r#""url": "https://tools.example/mcp?tags=market""#), "{by_url}");
        for (typed, url) in
            [("/mcp/", "/mcp"), ("/mcp//?tags=market", "/mcp?tags=market"), ("/a/mcp/#b", "/a/mcp#b")]
        {
            let (typed, url) =
                (format!("https://tools.example{typed}"), format!("https://tools.example{url}"));
            let by_url = printed(Client::Cursor, Some(&typed), false).unwrap();
            assert!(by_url.contains(&format!(r#""url": "{url}""#)), "{by_url}");
        }
        let by_program = printed(Client::ClaudeCode, Some(GRPC), true).unwrap();
        let expected = format!(
            "claude mcp add toolwire --env TOOLWIRE_TOKEN=\"$TOOLWIRE_TOKEN\" -- {PROGRAM} mcp --server {GRPC}"
        );
        assert_eq!(by_program, expected);
    }

    #[test]
    fn claude_desktop_takes_no_url() {
        printed(Client::ClaudeDesktop, Some(URL), false).unwrap_err();
    }
}
