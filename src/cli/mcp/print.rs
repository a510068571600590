//! The configuration by which a client of MCP finds this program or a server.

use std::env;

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use crate::connection::Connection;
use toolwire_base::words::shell;
use toolwire_mcp::server::ToolMode;
use toolwire_server::console::{self, Failure};
use toolwire_tool::context::ToolsetName;

/// In the file of a client that has no way to name a variable.
const TYPED: &str = "YOUR TOKEN";

/// A client whose configuration is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    ClaudeDesktop,
    ClaudeCode,
    Codex,
    Cursor,
    GeminiCli,
    Vscode,
    Windsurf,
    Zed,
}

/// Prints it for the tools that are selected, with further flags of a program that the client starts.
pub(super) fn run(
    client: Client,
    connection: &Connection,
    mode: ToolMode,
    further: Vec<String>,
) -> Result<(), Failure> {
    let program = env::current_exe().map_err(|error| Failure::Failed(format!("no path: {error}")))?;
    let url = connection.url()?.map(|url| url.to_string());
    let toolset = connection.toolset();
    let for_mcp = url.as_deref().and_then(|url| for_mcp(url, toolset)).map(|url| in_mode(url, mode));
    if for_mcp.is_some() && further.iter().any(|flag| flag == super::DECIDE_HERE) {
        return Err(Failure::Usage(super::DECIDE_HERE_OVER_HTTP.to_owned()));
    }
    let mut flags = connection.to_words_elsewhere()?;
    if mode == ToolMode::Search {
        flags.extend(["--mode", "search"].map(str::to_owned));
    }
    flags.extend(further);
    let reach = match &for_mcp {
        Some(url) => Reach::Url(url),
        None => Reach::Program { path: &program.display().to_string(), flags: &flags },
    };
    // A token is for a server. The flags of a program name its file, if it is in one.
    let is_in_file = for_mcp.is_none() && flags.iter().any(|flag| flag == "--token-file");
    let has_token = url.is_some() && connection.has_token() && !is_in_file;
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

/// A server's URL for MCP, whose path ends in `/mcp` or `/mcp/TOOLSET`, without a slash after it; any other is its
/// address for gRPC.
fn for_mcp(url: &str, toolset: Option<&ToolsetName>) -> Option<String> {
    let (path, rest) = url.split_at(url.find(['?', '#']).unwrap_or(url.len()));
    let path = path.trim_end_matches('/');
    let names_one = || path.rsplit_once('/').is_some_and(|(path, _)| path.ends_with("/mcp"));
    match toolset {
        Some(toolset) if path.ends_with("/mcp") => Some(format!("{path}/{toolset}{rest}")),
        _ => (path.ends_with("/mcp") || names_one()).then(|| format!("{path}{rest}")),
    }
}

/// The same URL, by which the tools are listed so.
fn in_mode(url: String, mode: ToolMode) -> String {
    match mode {
        ToolMode::List => url,
        ToolMode::Search => {
            let (before, fragment) = url.split_at(url.find('#').unwrap_or(url.len()));
            let separator = if before.contains('?') { '&' } else { '?' };
            format!("{before}{separator}mode=search{fragment}")
        }
    }
}

/// What the client's configuration file holds, or the command that writes it. A token is named and never shown.
fn snippet(client: Client, reach: Reach<'_>, has_token: bool) -> Result<String, &'static str> {
    if let (Client::ClaudeDesktop, Reach::Url(_)) = (client, reach) {
        return Err("Claude Desktop starts a program and takes no URL: give the server's address for gRPC");
    }
    Ok(match client {
        Client::ClaudeCode => command(reach, has_token),
        Client::Codex => codex(reach, has_token),
        Client::Vscode => vscode(reach, has_token),
        Client::ClaudeDesktop => file("mcpServers", reach, "url", has_token.then_some(TYPED)),
        Client::Cursor => file("mcpServers", reach, "url", has_token.then_some("${env:TOOLWIRE_TOKEN}")),
        Client::GeminiCli => file("mcpServers", reach, "httpUrl", has_token.then_some("$TOOLWIRE_TOKEN")),
        Client::Windsurf => {
            file("mcpServers", reach, "serverUrl", has_token.then_some("${env:TOOLWIRE_TOKEN}"))
        }
        Client::Zed => file("context_servers", reach, "url", has_token.then_some(TYPED)),
    })
}

/// A file of JSON that has the server under `section`, and its URL as `url_key`.
fn file(section: &str, reach: Reach<'_>, url_key: &str, token: Option<&str>) -> String {
    format!("{:#}", json!({section: {"toolwire": entry(reach, url_key, token)}}))
}

fn entry(reach: Reach<'_>, url_key: &str, token: Option<&str>) -> Value {
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
            entry.insert(url_key.to_owned(), url.into());
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
    if let Value::Object(entry) = entry(reach, "url", has_token.then_some("${input:toolwire-token}")) {
        typed.extend(entry);
    }
    let mut file = json!({"servers": {"toolwire": typed}});
    if has_token {
        let input = json!({"id": "toolwire-token", "type": "promptString", "description": "Token of Toolwire", "password": true});
        file["inputs"] = json!([input]);
    }
    format!("{file:#}")
}

/// Codex has a file of TOML, which names variables. A text of JSON is one of TOML too.
fn codex(reach: Reach<'_>, has_token: bool) -> String {
    let mut lines = vec!["[mcp_servers.toolwire]".to_owned()];
    let token = match reach {
        Reach::Program { path, flags } => {
            lines.push(format!("command = {}", json!(path)));
            let flags: Vec<_> = arguments(flags).iter().map(|flag| json!(flag).to_string()).collect();
            lines.push(format!("args = [{}]", flags.join(", ")));
            r#"env_vars = ["TOOLWIRE_TOKEN"]"#
        }
        Reach::Url(url) => {
            lines.push(format!("url = {}", json!(url)));
            r#"bearer_token_env_var = "TOOLWIRE_TOKEN""#
        }
    };
    lines.extend(has_token.then(|| token.to_owned()));
    lines.join("\n")
}

/// For a shell. In the file of a project, Claude Code replaces the variable when it starts: neither a list of processes
/// nor that file shows the token.
fn command(reach: Reach<'_>, has_token: bool) -> String {
    let scope = if has_token { " --scope project" } else { "" };
    match reach {
        Reach::Program { path, flags } => {
            let token = if has_token { " --env 'TOOLWIRE_TOKEN=${TOOLWIRE_TOKEN}'" } else { "" };
            let program: Vec<_> = [path].into_iter().chain(arguments(flags)).map(shell).collect();
            format!("claude mcp add{scope} toolwire{token} -- {}", program.join(" "))
        }
        Reach::Url(url) => {
            let token = if has_token { " --header 'Authorization: Bearer ${TOOLWIRE_TOKEN}'" } else { "" };
            format!("claude mcp add{scope} --transport http toolwire {}{token}", shell(url))
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
        printed_with(client, server, has_token, None)
    }

    fn printed_with(
        client: Client,
        server: Option<&str>,
        has_token: bool,
        flag: Option<&str>,
    ) -> Result<String, &'static str> {
        let server_flags = server.into_iter().flat_map(|url| ["--server", url]);
        let flags: Vec<_> = server_flags.chain(flag).map(str::to_owned).collect();
        let url = server.and_then(|url| for_mcp(url, None));
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
                for (has_token, flag) in [
                    (false, None),
                    (true, None),
                    (false, Some("--decide-here")),
                    (true, Some("--decide-here")),
                ] {
                    let Ok(text) = printed_with(*client, server, has_token, flag) else { continue };
                    shown.retain(|block| !block.ends_with(&format!("\n{text}\n")));
                }
            }
        }
        let printed = ["\"toolwire\": {", "claude mcp add", "[mcp_servers."];
        shown.retain(|block| printed.iter().any(|begin| block.contains(begin)));
        assert!(shown.is_empty(), "the page has what no command prints: {shown:?}");
    }

    #[test]
    fn each_file_is_json_and_names_no_token() {
        for client in Client::value_variants() {
            let key = match client {
                Client::ClaudeCode | Client::Codex => continue,
                Client::Vscode => "servers",
                Client::Zed => "context_servers",
                _ => "mcpServers",
            };
            for has_token in [false, true] {
                let file: Value =
                    serde_json::from_str(&printed(*client, Some(GRPC), has_token).unwrap()).unwrap();
                assert_eq!(file[key]["toolwire"]["args"], json!(["mcp", "--server", GRPC]), "{client:?}");
                assert_eq!(file[key]["toolwire"]["env"].is_object(), has_token, "{client:?}");
            }
        }
    }

    /// The key by which each finds a URL, and how it refers to the token, is its own.
    #[test]
    fn a_url_stands_where_each_client_looks_for_it() {
        for (client, section, url_key, token) in [
            (Client::Cursor, "mcpServers", "url", "Bearer ${env:TOOLWIRE_TOKEN}"),
            (Client::GeminiCli, "mcpServers", "httpUrl", "Bearer $TOOLWIRE_TOKEN"),
            (Client::Windsurf, "mcpServers", "serverUrl", "Bearer ${env:TOOLWIRE_TOKEN}"),
            (Client::Vscode, "servers", "url", "Bearer ${input:toolwire-token}"),
            (Client::Zed, "context_servers", "url", "Bearer YOUR TOKEN"),
        ] {
            let file: Value = serde_json::from_str(&printed(client, Some(URL), true).unwrap()).unwrap();
            let entry = &file[section]["toolwire"];
            assert_eq!((&entry[url_key], &entry["headers"]["Authorization"]), (&json!(URL), &json!(token)));
            assert!(entry.get("command").is_none() && entry.get("env").is_none(), "{entry}");
        }
    }

    #[test]
    fn codex_reads_its_file_as_toml_whatever_is_in_the_path() {
        let file = |reach, has_token| codex(reach, has_token).parse::<toml::Table>().unwrap();
        let path = "/opt/my \"tools\"\\bin\ttoolwire";
        let flags = ["--server".to_owned(), GRPC.to_owned()];
        for has_token in [false, true] {
            let by_program = file(Reach::Program { path, flags: &flags }, has_token);
            let entry = &by_program["mcp_servers"]["toolwire"];
            assert_eq!(entry["command"].as_str(), Some(path));
            let args: Vec<_> =
                entry["args"].as_array().unwrap().iter().filter_map(|it| it.as_str()).collect();
            assert_eq!(args, ["mcp", "--server", GRPC]);
            assert_eq!(entry.get("env_vars").is_some(), has_token);
            let by_url = file(Reach::Url(URL), has_token);
            let entry = &by_url["mcp_servers"]["toolwire"];
            assert_eq!(entry["url"].as_str(), Some(URL));
            let variable = entry.get("bearer_token_env_var").and_then(|it| it.as_str());
            assert_eq!(variable, has_token.then_some("TOOLWIRE_TOKEN"));
        }
    }

    #[test]
    fn a_url_for_mcp_is_used_as_it_is_and_any_other_by_the_program() {
        let by_url = printed(Client::Cursor, Some("https://tools.example/mcp?tags=market"), false).unwrap();
        assert!(by_url.contains(r#""url": "https://tools.example/mcp?tags=market""#), "{by_url}");
        for (typed, url) in [
            ("/mcp/", "/mcp"),
            ("/mcp//?tags=market", "/mcp?tags=market"),
            ("/a/mcp/#b", "/a/mcp#b"),
            ("/mcp/shop/", "/mcp/shop"),
        ] {
            let (typed, url) =
                (format!("https://tools.example{typed}"), format!("https://tools.example{url}"));
            let by_url = printed(Client::Cursor, Some(&typed), false).unwrap();
            assert!(by_url.contains(&format!(r#""url": "{url}""#)), "{by_url}");
        }
        let by_program = printed(Client::ClaudeCode, Some(GRPC), true).unwrap();
        let expected = format!(
            "claude mcp add --scope project toolwire --env 'TOOLWIRE_TOKEN=${{TOOLWIRE_TOKEN}}' -- {PROGRAM} mcp \
             --server {GRPC}"
        );
        assert_eq!(by_program, expected);
    }

    #[test]
    fn a_toolset_is_part_of_the_url_for_mcp() {
        let shop = "shop".parse().unwrap();
        let named = |url: &str| for_mcp(url, Some(&shop));
        assert_eq!(named("http://a:1/mcp").as_deref(), Some("http://a:1/mcp/shop"));
        assert_eq!(named("http://a:1/mcp/?tags=b").as_deref(), Some("http://a:1/mcp/shop?tags=b"));
        // Of two the server says that they are.
        assert_eq!(named("http://a:1/mcp/other").as_deref(), Some("http://a:1/mcp/other"));
        assert_eq!(named("http://a:1"), None);
    }

    #[test]
    fn a_mode_is_part_of_the_query() {
        for (url, expected) in [
            ("http://a:1/mcp", "http://a:1/mcp?mode=search"),
            ("http://a:1/mcp/shop?tags=b#c", "http://a:1/mcp/shop?tags=b&mode=search#c"),
        ] {
            assert_eq!(in_mode(url.to_owned(), ToolMode::Search), expected);
            assert_eq!(in_mode(url.to_owned(), ToolMode::List), url);
        }
    }

    #[test]
    fn claude_desktop_takes_no_url() {
        printed(Client::ClaudeDesktop, Some(URL), false).unwrap_err();
    }
}
