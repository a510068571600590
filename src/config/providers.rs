//! Providers: what executes tools outside the server, `[providers.NAME]`. They are set in the file only; their tokens
//! in variables.
//!
//! A host dials in (`host`); an MCP server is dialled, or started as a process (`mcp`).
//!
//! Not here: comparing tokens, which the server does without telling how much of one was right, and the tools
//! themselves, which a provider's hosts offer.

mod host;
mod limits;
mod mcp;
mod names;

use secrecy::{ExposeSecret, SecretString};

use super::{
    Auth, Consequence, TokenDigest, ToolPattern,
    auth::EntryNames,
    conditions::{self, Conditions},
    fields::Fields,
    reader::{Reader, tokens::unset_token},
    value::Value,
};
use toolwire_identity::{HostClaims, SpiffePattern};

use self::host::are_apart;
pub use self::{
    host::HostCredentials,
    limits::{ProviderLimits, RequestLimit},
    mcp::{McpServer, McpTarget},
    names::{Renames, Unnamed, name_tools, propose_names},
};

/// The provider of a server without users: any process on its own machine.
pub const LOCAL_PROVIDER: &str = "local";

/// Longest name of a provider, in characters.
const LONGEST_NAME: usize = 64;

/// What executes tools outside the server, in order of name.
#[derive(Clone, Debug, Default)]
pub struct Providers(pub Vec<ConfiguredProvider>);

/// A provider, `[providers.NAME]`.
#[derive(Clone, Debug)]
pub struct ConfiguredProvider {
    pub name: String,
    pub kind: ProviderKind,
    pub floor: ProviderFloor,
    pub limits: ProviderLimits,
}

/// How a provider is reached: `kind`.
#[derive(Clone, Debug)]
pub enum ProviderKind {
    /// Its hosts dial in, and prove themselves so.
    Host(HostCredentials),
    Mcp(McpServer),
}

/// A token in a variable: `token_env` with its name.
#[derive(Clone, Debug)]
pub struct Token {
    value: Option<SecretString>,
    env: String,
}

/// The minimum requirements on a provider's tools, which its offers cannot lower.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderFloor {
    /// The only names that it may own: `tools`. Default all.
    pub tools: Vec<ToolPattern>,
    /// The lowest consequence level of its tools: `at_least`. Default none.
    pub at_least: Option<Consequence>,
    /// The tools whose calls a person must approve: `approve`. Default none.
    pub approve: Vec<ToolPattern>,
    /// Whether results of all its tools contain text from outside: `untrusted`. Default `false`, of an MCP server
    /// `true`.
    pub untrusted: bool,
    /// Conditions on arguments beside those of its offers, by tool: `conditions`. Default none.
    pub conditions: Conditions,
}

impl Default for ProviderFloor {
    fn default() -> Self {
        Self {
            tools: ToolPattern::everything(),
            at_least: None,
            approve: Vec::new(),
            untrusted: false,
            conditions: Conditions::new(),
        }
    }
}

impl Providers {
    pub(super) fn read(reader: &mut Reader, auth: &Auth, issuers: &EntryNames) -> Self {
        let mut providers: Vec<ConfiguredProvider> = Vec::new();
        for (name, mut entry) in reader.tables("providers") {
            // A provider is a source, which a domain must not bring too.
            reader.claim(&format!("source {name}"));
            let provider = ConfiguredProvider::read(&name, &mut entry, reader, issuers);
            let fits = provider.filter(|it| is_apart(it, &providers, auth, &mut entry));
            if reader.end(entry)
                && let Some(provider) = fits
            {
                reader.show_entry(&format!("[providers.{name}]"), &provider.to_pairs());
                providers.push(provider);
            }
        }
        Self(providers)
    }

    /// What holds of the tools of a provider of this name.
    pub fn floor(&self, name: &str) -> ProviderFloor {
        self.0.iter().find(|it| it.name == name).map(|it| it.floor.clone()).unwrap_or_default()
    }

    /// The tokens of hosts, with the names of their providers.
    pub fn host_tokens(&self) -> impl Iterator<Item = (&str, &SecretString)> {
        self.0.iter().filter_map(|it| match &it.kind {
            ProviderKind::Host(HostCredentials { token, .. }) => {
                Some((it.name.as_str(), token.as_ref()?.value.as_ref()?))
            }
            ProviderKind::Mcp(_) => None,
        })
    }

    /// The workloads that are hosts, with the names of their providers. No id matches two of them.
    pub fn host_workloads(&self) -> impl Iterator<Item = (&str, &SpiffePattern)> {
        self.0.iter().filter_map(|it| Some((it.name.as_str(), it.spiffe()?)))
    }

    /// The tokens of issuers that prove hosts. No token fits two of them.
    pub fn host_claims(&self) -> impl Iterator<Item = &HostClaims> {
        self.0.iter().filter_map(ConfiguredProvider::claims)
    }

    /// The MCP servers, with the names of their providers.
    pub fn mcp_servers(&self) -> impl Iterator<Item = (&str, &McpServer)> {
        self.0.iter().filter_map(|it| match &it.kind {
            ProviderKind::Mcp(server) => Some((it.name.as_str(), server)),
            ProviderKind::Host(_) => None,
        })
    }
}

impl ConfiguredProvider {
    fn read(name: &str, entry: &mut Fields, reader: &mut Reader, issuers: &EntryNames) -> Option<Self> {
        if !is_provider_name(name) || name == LOCAL_PROVIDER {
            entry.problem(format!(
                "the name must be of a-z, 0-9, _ and -, at most {LONGEST_NAME} characters, and not {LOCAL_PROVIDER}"
            ));
        }
        // Every field is read even if an earlier one is wrong, so that all problems are reported at once.
        let kind = entry.required::<String>("kind");
        if kind.as_ref().is_some_and(|kind| kind != "host" && kind != "mcp") {
            entry.problem("kind must be host, a process that dials in, or mcp, an MCP server");
        }
        let limits = ProviderLimits::read(entry);
        if kind.as_deref() == Some("mcp") {
            let (server, tools) = McpServer::read(entry, reader);
            let floor = ProviderFloor::read(entry, reader, (tools, true));
            return Some(Self { name: name.to_owned(), kind: ProviderKind::Mcp(server?), floor, limits });
        }
        let tools = entry.optional("tools").unwrap_or_else(ToolPattern::everything);
        let credentials = HostCredentials::read(name, entry, reader, issuers);
        let floor = ProviderFloor::read(entry, reader, (tools, false));
        Some(Self { name: name.to_owned(), kind: ProviderKind::Host(credentials?), floor, limits })
    }

    fn to_pairs(&self) -> Vec<(&'static str, String)> {
        let ProviderFloor { tools, at_least, approve, untrusted, conditions } = &self.floor;
        let mut pairs = match &self.kind {
            ProviderKind::Host(credentials) => credentials.to_pairs(tools),
            ProviderKind::Mcp(server) => server.to_pairs(tools),
        };
        pairs.extend(at_least.map(|it| ("at_least", it.into_str().to_owned().to_toml())));
        pairs.extend([("approve", approve.to_toml()), ("untrusted", untrusted.to_toml())]);
        pairs.extend(self.limits.to_pairs());
        if !conditions.is_empty() {
            pairs.push(("conditions", conditions::show(conditions)));
        }
        pairs
    }

    /// The workload that its hosts are.
    fn spiffe(&self) -> Option<&SpiffePattern> {
        match &self.kind {
            ProviderKind::Host(credentials) => credentials.spiffe.as_ref(),
            ProviderKind::Mcp(_) => None,
        }
    }

    /// The tokens of an issuer that its hosts present.
    fn claims(&self) -> Option<&HostClaims> {
        match &self.kind {
            ProviderKind::Host(credentials) => credentials.claims.as_ref(),
            ProviderKind::Mcp(_) => None,
        }
    }

    /// The token that it has or presents.
    fn token(&self) -> Option<&str> {
        match &self.kind {
            ProviderKind::Host(credentials) => credentials.token.as_ref().and_then(Token::exposed),
            ProviderKind::Mcp(server) => server.target.token().and_then(Token::exposed),
        }
    }
}

impl Token {
    fn read(env: String, entry: &mut Fields, reader: &mut Reader) -> Option<Self> {
        let value = reader.token(&env, entry);
        if value.as_ref().is_some_and(|it| !it.bytes().all(|byte| byte.is_ascii_graphic())) {
            entry.problem(format!("{env} must hold visible ASCII characters without spaces"));
            return None;
        }
        Some(Self { value: value.map(SecretString::from), env })
    }

    /// The token, or which variable is to be set to it.
    pub fn value(&self) -> Result<&SecretString, String> {
        self.value.as_ref().ok_or_else(|| unset_token(&self.env))
    }

    fn exposed(&self) -> Option<&str> {
        self.value.as_ref().map(ExposeSecret::expose_secret)
    }
}

impl ProviderFloor {
    /// `untrusted` is its default.
    fn read(entry: &mut Fields, reader: &mut Reader, (tools, untrusted): (Vec<ToolPattern>, bool)) -> Self {
        let level = entry.optional::<String>("at_least");
        let at_least = level.and_then(|level| {
            let read = level.parse().map_err(|_| "at_least must be low, medium or high");
            read.map_err(|what| entry.problem(what)).ok()
        });
        let approve = entry.optional("approve").unwrap_or_default();
        let untrusted = entry.optional("untrusted").unwrap_or(untrusted);
        let conditions = conditions::read_table(entry, reader);
        Self { tools, at_least, approve, untrusted, conditions }
    }
}

/// Whether a provider's credentials are its own: those of a user too would authenticate their holder as both.
fn is_apart(
    provider: &ConfiguredProvider,
    earlier: &[ConfiguredProvider],
    auth: &Auth,
    entry: &mut Fields,
) -> bool {
    let token = has_own_token(provider, earlier, auth, entry);
    let of_users = auth.workloads.iter().map(|it| &it.id);
    let mut others = of_users.chain(earlier.iter().filter_map(ConfiguredProvider::spiffe));
    let shared = provider.spiffe().and_then(|id| others.find(|other| other.overlaps(id)));
    if let Some(other) = shared {
        entry.problem(format!(
            "spiffe matches ids of {other} too, of a user or another provider; keep them apart"
        ));
    }
    let mut claims = earlier.iter().filter_map(ConfiguredProvider::claims);
    let alike = provider.claims().and_then(|own| claims.find(|other| !are_apart(own, other)));
    if let Some(HostClaims { provider, .. }) = alike {
        let what = "claim fits tokens of hosts of";
        entry.problem(format!("{what} {provider} too; give both the same claim, with different texts"));
    }
    token && shared.is_none() && alike.is_none()
}

/// Whether a provider's token is its own. One that an MCP server is sent would let that server be its other owner.
/// Several MCP servers may be sent one token.
fn has_own_token(
    provider: &ConfiguredProvider,
    earlier: &[ConfiguredProvider],
    auth: &Auth,
    entry: &mut Fields,
) -> bool {
    let Some(token) = provider.token() else { return true };
    let is_host = |it: &ConfiguredProvider| matches!(it.kind, ProviderKind::Host(_));
    let shares = |it: &&ConfiguredProvider| is_host(provider) || is_host(it);
    let is_providers = earlier.iter().filter(shares).any(|it| it.token() == Some(token));
    let token = TokenDigest::of(token.as_bytes());
    let is_users = auth.users.iter().any(|it| it.presents(&token));
    if is_providers || is_users {
        let owner = if is_users { "a user" } else { "another provider" };
        entry.problem(format!("its token belongs to {owner} too; give each its own"));
    }
    !is_providers && !is_users
}

/// Whether a provider may be called so.
pub fn is_provider_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(fits)
}

#[cfg(test)]
mod tests;
