//! Providers: what executes tools outside the server, `[providers.NAME]`. They are set in the file only; their tokens
//! in variables.
//!
//! Not here: comparing tokens, which the server does without telling how much of one was right, and the tools
//! themselves, which a provider's hosts offer.

use secrecy::{ExposeSecret, SecretString};
use strum::{EnumString, IntoStaticStr};

use super::{
    Auth, ToolPattern,
    conditions::{self, Conditions},
    fields::Fields,
    reader::Reader,
    value::Value,
};

/// The provider of a server without users: any process on its own machine.
pub const LOCAL_PROVIDER: &str = "local";

/// Longest name of a provider, in characters.
const LONGEST_NAME: usize = 64;

/// What executes tools outside the server, in order of name.
#[derive(Clone, Debug, Default)]
pub struct Providers(pub Vec<ConfiguredProvider>);

/// A provider whose hosts dial in: `[providers.NAME]` with `kind = "host"`.
#[derive(Clone, Debug)]
pub struct ConfiguredProvider {
    pub name: String,
    /// What its hosts present: `token_env` with the name of the variable that holds it. Required.
    pub token: SecretString,
    /// The variable that holds it.
    token_env: String,
    pub floor: ProviderFloor,
}

/// What holds of a provider's tools, whatever it offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderFloor {
    /// The only names that it may own: `tools`. Default all.
    pub tools: Vec<ToolPattern>,
    /// The lowest consequence level of its tools: `at_least`. Default none.
    pub at_least: Option<Consequence>,
    /// The tools whose calls a person must approve: `approve`. Default none.
    pub approve: Vec<ToolPattern>,
    /// Whether results of all its tools contain text from outside: `untrusted`. Default `false`.
    pub untrusted: bool,
    /// Conditions on arguments beside those of its offers, by tool: `conditions`. Default none.
    pub conditions: Conditions,
}

/// The impact of a call on the real world, from the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Consequence {
    Low,
    Medium,
    High,
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
    pub(super) fn read(reader: &mut Reader, auth: &Auth) -> Self {
        let mut providers: Vec<ConfiguredProvider> = Vec::new();
        for (name, mut entry) in reader.tables("providers") {
            let provider = ConfiguredProvider::read(&name, &mut entry, reader);
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
}

impl ConfiguredProvider {
    fn read(name: &str, entry: &mut Fields, reader: &mut Reader) -> Option<Self> {
        if !is_name(name) || name == LOCAL_PROVIDER {
            entry.problem(format!(
                "the name must be of a-z, 0-9, _ and -, at most {LONGEST_NAME} characters, and not {LOCAL_PROVIDER}"
            ));
        }
        // Every field is read even if an earlier one is wrong, so that all problems are reported at once.
        let kind = entry.required::<String>("kind");
        if kind.as_ref().is_some_and(|kind| kind != "host") {
            entry.problem("kind must be host: a process that dials in");
        }
        let token_env = entry.required::<String>("token_env");
        let floor = ProviderFloor::read(entry, reader);
        let token_env = token_env?;
        let Some(token) = reader.variable(&token_env) else {
            entry.problem(format!("token_env names {token_env}, which is not set; set it to the token"));
            return None;
        };
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            entry.problem(format!("{token_env} must hold visible ASCII characters without spaces"));
            return None;
        }
        Some(Self { name: name.to_owned(), token: token.into(), token_env, floor })
    }

    fn to_pairs(&self) -> Vec<(&'static str, String)> {
        let ProviderFloor { tools, at_least, approve, untrusted, conditions } = &self.floor;
        let at_least = at_least.map(|it| it.into_str().to_owned().to_toml());
        let mut pairs = vec![
            ("kind", "host".to_owned().to_toml()),
            ("token_env", self.token_env.to_toml()),
            ("tools", tools.to_toml()),
        ];
        pairs.extend(at_least.map(|it| ("at_least", it)));
        pairs.extend([("approve", approve.to_toml()), ("untrusted", untrusted.to_toml())]);
        if !conditions.is_empty() {
            pairs.push(("conditions", conditions::show(conditions)));
        }
        pairs
    }
}

impl ProviderFloor {
    fn read(entry: &mut Fields, reader: &mut Reader) -> Self {
        let tools = entry.optional("tools").unwrap_or_else(ToolPattern::everything);
        let level = entry.optional::<String>("at_least");
        let at_least = level.and_then(|level| {
            let read = level.parse().map_err(|_| "at_least must be low, medium or high");
            read.map_err(|what| entry.problem(what)).ok()
        });
        let approve = entry.optional("approve").unwrap_or_default();
        let untrusted = entry.optional("untrusted").unwrap_or(false);
        let conditions = conditions::read_table(entry, reader);
        Self { tools, at_least, approve, untrusted, conditions }
    }
}

/// Whether a provider's token is its own: one that is a user's too would open both doors.
fn is_apart(
    provider: &ConfiguredProvider,
    earlier: &[ConfiguredProvider],
    auth: &Auth,
    entry: &mut Fields,
) -> bool {
    let token = provider.token.expose_secret();
    let is_providers = earlier.iter().any(|it| it.token.expose_secret() == token);
    let is_users = auth.users.iter().any(|it| it.token.expose_secret() == token);
    if is_providers || is_users {
        let owner = if is_users { "a user" } else { "another provider" };
        entry.problem(format!("its token belongs to {owner} too; give each its own"));
    }
    !is_providers && !is_users
}

fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(fits)
}

#[cfg(test)]
mod tests;
