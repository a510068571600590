//! MCP servers: `[providers.NAME]` with `kind = "mcp"`.
//!
//! Not here: the addresses that a name leads to, which are checked when it is resolved.

use secrecy::SecretString;
use url::{Host, Url};

use super::{
    Token, ToolPattern,
    names::{OTHERS, Renames, show},
};
use crate::{
    ConfiguredCertificate,
    fields::Fields,
    reader::Reader,
    value::{Value, quote},
};
use toolwire_contract::ToolName;
use toolwire_outgoing::names_link_local_or_metadata;

/// An MCP server whose tools are offered.
#[derive(Clone, Debug)]
pub struct McpServer {
    pub target: McpTarget,
    /// The names under which its tools are offered, by its own: `tools` as a table. Default none: by rule.
    pub renames: Renames,
    /// The tools that only read, by the names under which they are offered: `read`. Default none.
    pub read: Vec<ToolPattern>,
}

/// Where an MCP server is.
#[derive(Clone, Debug)]
pub enum McpTarget {
    Url {
        /// `url`: https, or http on this machine or with `plaintext = true`.
        url: Url,
        /// What it is given: `token_env`. Default none.
        token: Option<Token>,
        /// What the server proves itself by: `client_cert` and `client_key`, PEM files. Default none.
        certificate: Option<ConfiguredCertificate>,
    },
    /// A process that is started.
    Command {
        /// The program and its arguments: `command`.
        command: Vec<String>,
        /// All of its environment: `env` with the names of variables. Default none.
        env: Vec<(String, SecretString)>,
    },
}

impl McpTarget {
    /// Whether the token that it is given is known.
    pub fn is_complete(&self) -> bool {
        self.token().is_none_or(|token| token.value().is_ok())
    }

    pub(super) fn token(&self) -> Option<&Token> {
        match self {
            Self::Url { token, .. } => token.as_ref(),
            Self::Command { .. } => None,
        }
    }
}

impl McpServer {
    /// Beside it the names that it may own.
    pub(super) fn read(entry: &mut Fields, reader: &mut Reader) -> (Option<Self>, Vec<ToolPattern>) {
        let (renames, tools) = read_tools(entry, reader);
        let read = entry.optional("read").unwrap_or_default();
        let target = match (entry.has("url"), entry.has("command")) {
            (true, true) => {
                entry.problem("url and command are two servers; remove one");
                // Both are known.
                (read_url(entry, reader), read_command(entry, reader)).0
            }
            (false, true) => read_command(entry, reader),
            (true, false) => read_url(entry, reader),
            (false, false) => {
                entry.problem("an MCP server needs url, or command = [\"program\", \"argument\"]");
                None
            }
        };
        (target.map(|target| Self { target, renames, read }), tools)
    }

    pub(super) fn to_pairs(&self, tools: &[ToolPattern]) -> Vec<(&'static str, String)> {
        let mut pairs = vec![("kind", "mcp".to_owned().to_toml())];
        match &self.target {
            McpTarget::Url { url, token, certificate } => {
                pairs.push(("url", quote(url.as_str())));
                pairs.extend(token.as_ref().map(|it| ("token_env", it.env.to_toml())));
                if url.scheme() == "http" && !is_loopback(url) {
                    pairs.push(("plaintext", true.to_toml()));
                }
                pairs.extend(certificate.iter().flat_map(ConfiguredCertificate::to_pairs));
            }
            McpTarget::Command { command, env } => {
                let names: Vec<_> = env.iter().map(|(name, _)| name.clone()).collect();
                pairs.extend([("command", command.to_toml()), ("env", names.to_toml())]);
            }
        }
        let tools = if self.renames.is_empty() { tools.to_vec().to_toml() } else { show(&self.renames) };
        pairs.extend([("tools", tools), ("read", self.read.to_toml())]);
        pairs
    }
}

/// `tools`: patterns, or a table of names. Beside the names those that the provider may own.
fn read_tools(entry: &mut Fields, reader: &mut Reader) -> (Renames, Vec<ToolPattern>) {
    if !entry.is_table("tools") {
        return (Renames::new(), entry.optional("tools").unwrap_or_else(ToolPattern::everything));
    }
    let Some(mut table) = entry.table("tools") else { return (Renames::new(), ToolPattern::everything()) };
    let mut renames = Renames::new();
    for (its, ours) in table.take_json() {
        let name = ours.as_str().filter(|_| its != OTHERS).and_then(|it| it.parse::<ToolName>().ok());
        match name {
            Some(ours) if renames.values().flatten().any(|it| *it == ours) => {
                table.problem(format!("two tools would be called {ours}"));
            }
            Some(_) => drop(renames.insert(its, name)),
            None if ours == false => drop(renames.insert(its, None)),
            None => table.problem(format!(
                "expected the name under which {its} is offered, of a-z, 0-9 and _, or false to leave it out, but found \
                 {ours}"
            )),
        }
    }
    reader.end(table);
    let owned = if renames.contains_key(OTHERS) {
        let names = renames.values().flatten();
        names.filter_map(|name| ToolPattern::try_from(name.to_string()).ok()).collect()
    } else {
        ToolPattern::everything()
    };
    (renames, owned)
}

fn read_url(entry: &mut Fields, reader: &mut Reader) -> Option<McpTarget> {
    let text = entry.required::<String>("url");
    let is_plain = entry.optional("plaintext").unwrap_or(false);
    let token_env = entry.optional::<String>("token_env");
    let token = token_env.map(|env| Token::read(env, entry, reader));
    let certificate = ConfiguredCertificate::read(entry);
    let url = text.and_then(|text| address(&text, is_plain).map_err(|what| entry.problem(what)).ok());
    if certificate.is_some() && url.as_ref().is_some_and(|url| url.scheme() != "https") {
        entry.problem("client_cert needs a url over https://");
    }
    Some(McpTarget::Url { url: url?, token: token.map_or(Some(None), |it| it.map(Some))?, certificate })
}

/// What is sent holds people's data and a token: it goes over TLS, or does not leave this machine, or the operator says
/// that it may.
fn address(text: &str, is_plain: bool) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("url cannot be read: {error}"))?;
    let wrong = match url.scheme() {
        // It would be shown wherever the address is.
        _ if !url.username().is_empty() || url.password().is_some() => {
            "must not hold a user or a password; use token_env"
        }
        _ if url.query().is_some() || url.fragment().is_some() => "must have no ? and #",
        _ if names_link_local_or_metadata(&url) => "must not be a link-local address or a metadata service",
        "https" => return Ok(url),
        "http" if is_plain || is_loopback(&url) => return Ok(url),
        "http" => "must be https://…, or http://… on this machine; plaintext = true allows it elsewhere",
        _ => "must be https://… or http://…",
    };
    Err(format!("url {wrong}"))
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn read_command(entry: &mut Fields, reader: &mut Reader) -> Option<McpTarget> {
    let command = entry.required::<Vec<String>>("command");
    let names = entry.optional::<Vec<String>>("env").unwrap_or_default();
    let mut env = Vec::new();
    for name in names {
        match reader.variable(&name) {
            Some(value) => env.push((name, value.into())),
            None => entry.problem(format!("env names {name}, which is not set")),
        }
    }
    let command = command?;
    if command.first().is_none_or(String::is_empty) {
        entry.problem("command needs the program, and then its arguments");
        return None;
    }
    Some(McpTarget::Command { command, env })
}
