//! Configuration: one struct a concern. The only place that reads files of settings and the environment, except for a
//! few `OTEL_*` variables that the exporters read too.
//!
//! Flags win over environment variables, those over `toolwire.toml`, and that over defaults. Not here: what the
//! settings do. Every struct names, for each field, the flag, the variable and the default; most are tables, in which a
//! setting is one entry (`settings`). Settings of a domain, or of a crate above this one, are a [`Section`] that it
//! hands to [`load`].

mod admin;
mod agent;
mod agent_model;
mod agent_roles;
mod audit;
mod auth;
mod calls;
mod certified_clients;
mod client;
mod client_certificate;
mod conditions;
mod confirmations;
mod consequence;
mod console;
mod data;
mod differences;
mod egress;
mod error;
mod fields;
mod file;
mod http;
mod load;
mod log;
mod models;
mod near;
mod network;
mod parts;
mod print;
mod providers;
mod quotas;
mod raw_value;
mod reader;
mod redact_url;
mod sealing_keys;
mod section;
mod server;
mod server_bounds;
mod setting;
mod settings;
mod size;
mod sources;
mod state;
mod tasks;
mod telemetry;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod tls;
mod token_bindings;
mod tool_pattern;
mod toolsets;
mod unknown_keys;
mod value;
mod webhooks;

use std::{iter, net::SocketAddr, sync::Arc};

use toolwire_outgoing::Egress;

pub use admin::Admin;
pub use agent::Agent;
pub use agent_model::{AgentAnswerer, AgentModel, AgentPlanner};
pub use agent_roles::{AgentRole, AgentRoles};
pub use audit::Audit;
pub use auth::{
    Auth, AuthUser, Decision, Right, Rule, RuleTarget, TargetFacts, TokenDigest, ToolCategory, Who,
    WorkloadUser,
};
pub use calls::{Calls, RecordLevel, ToolRecordLevels};
pub use client::Client;
pub use client_certificate::ConfiguredCertificate;
pub use confirmations::Confirmations;
pub use consequence::Consequence;
pub use console::Console;
pub use data::Data;
pub use egress::egress_of_environment;
pub use error::{ConfigError, Problem};
pub use fields::Fields;
pub use http::Http;
pub use load::{Loaded, load};
pub use log::{Log, LogFormat};
pub use models::{ConfiguredModel, Credentials, Models, OAuth, Provider};
pub use network::Network;
pub use parts::Part;
pub use print::print;
pub use providers::{
    ConfiguredProvider, HostCredentials, LOCAL_PROVIDER, McpServer, McpTarget, ProviderFloor, ProviderKind,
    ProviderLimits, Providers, Renames, RequestLimit, Token, Unnamed, is_provider_name, name_tools,
    propose_names,
};
pub use quotas::Quota;
pub use raw_value::{Entries, Origin, RawValue, Sourced};
pub use reader::Reader;
pub use redact_url::redact_url;
pub use section::Section;
pub use server::{Drain, Server};
pub use server_bounds::ServerBounds;
pub use setting::Setting;
pub use sources::{Environment, Flags, Sources};
pub use state::State;
pub use tasks::Tasks;
pub use telemetry::Telemetry;
pub use tls::{ClientAuth, Tls};
pub use tool_pattern::{InvalidPattern, ToolPattern};
pub use toolsets::{Toolset, Toolsets};
pub use value::{HIDDEN, Value};
pub use webhooks::{Secret, Webhook, bytes as webhook_key, key as webhook_secret};

/// Everything that can be set.
#[derive(Clone, Debug, Default)]
pub struct Config {
    pub server: Server,
    pub http: Http,
    /// The data that tools read.
    pub data: Data,
    /// What outlives the process.
    pub state: State,
    pub auth: Auth,
    /// Parts of the tools, to which requests narrow what they list and call.
    pub toolsets: Toolsets,
    /// How much users may call.
    pub quotas: Vec<Quota>,
    /// How connections go out: `[network]`.
    pub egress: Egress,
    /// What executes tools outside the server.
    pub providers: Providers,
    /// Decisions of persons on calls.
    pub confirmations: Confirmations,
    /// What is recorded of calls.
    pub calls: Calls,
    pub tasks: Tasks,
    pub models: Models,
    pub agent: Agent,
    /// What plans and what answers in them.
    pub agent_model: AgentModel,
    /// The agents that work on tasks, by role.
    pub agent_roles: AgentRoles,
    pub log: Log,
    pub admin: Admin,
    pub console: Console,
    pub audit: Audit,
    pub telemetry: Telemetry,
    parts: parts::Parts,
}

impl Config {
    /// The settings of a domain's section; their default if no section was read into this type.
    pub fn part<T: Part + Default>(&self) -> Arc<T> {
        self.parts.get().unwrap_or_default()
    }

    /// Replaces the settings of a domain's section.
    #[must_use]
    pub fn with<T: Part>(mut self, part: T) -> Self {
        self.parts.insert(Arc::new(part));
        self
    }

    /// Warnings for the log: settings that are valid and may be mistakes.
    pub fn warnings(&self) -> Vec<String> {
        self.plain_exposure().into_iter().chain(self.telemetry.warnings.iter().cloned()).collect()
    }

    /// Whether requests carry credentials that no caller wrote into them, such as the certificate of a browser.
    pub fn has_ambient_credentials(&self) -> bool {
        certified_clients::come_by_themselves(&self.auth, &self.server)
    }

    /// Where callers are served, with the name of the setting.
    fn listeners(&self) -> impl Iterator<Item = (&'static str, SocketAddr)> {
        let http = self.http.listen.map(|listen| ("http.listen", listen));
        iter::once(("server.listen", self.server.listen)).chain(http)
    }

    /// The first of them that other machines can reach.
    fn first_exposed(&self) -> Option<(&'static str, SocketAddr)> {
        self.listeners().find(|(_, listen)| !listen.ip().to_canonical().is_loopback())
    }

    fn plain_exposure(&self) -> Option<String> {
        let (_, listen) = self.first_exposed().filter(|_| self.server.tls.files().is_none())?;
        Some(format!(
            "{listen} can be reached from other machines without TLS: tokens and results go over the network as plain \
             text. Configure [server.tls], or let a proxy on this machine add TLS and listen on 127.0.0.1:{}",
            listen.port()
        ))
    }

    /// Refuses to serve other machines while credentials are not required.
    pub fn check_exposure(&self) -> Result<(), ConfigError> {
        let Some((setting, listen)) = self.first_exposed().filter(|_| self.auth.is_open()) else {
            return Ok(());
        };
        let what = format!(
            "{listen} can be reached from other machines, but no credentials are configured. Add [[auth.users]] with \
             user_id and token to toolwire.toml, or listen on 127.0.0.1:{}",
            listen.port()
        );
        Err(ConfigError::one(setting, what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listening_on(address: &str) -> Config {
        let server = Server { listen: address.parse().unwrap(), ..Server::default() };
        Config { server, ..Config::default() }
    }

    #[test]
    fn only_loopback_is_served_without_credentials() {
        for open in ["0.0.0.0:50051", "[::]:50051", "10.0.0.7:1"] {
            let error = listening_on(open).check_exposure().unwrap_err().to_string();
            assert!(error.contains("[[auth.users]]") && error.contains("127.0.0.1"), "{error}");
        }
        for closed in ["127.0.0.1:50051", "127.3.2.1:1", "[::1]:50051", "[::ffff:127.0.0.1]:1"] {
            assert!(listening_on(closed).check_exposure().is_ok(), "{closed}");
        }
    }

    #[test]
    fn both_listeners_are_looked_at() {
        let mut config = listening_on("127.0.0.1:50051");
        config.http.listen = Some("0.0.0.0:50080".parse().unwrap());
        let error = config.check_exposure().unwrap_err().to_string();
        assert!(error.contains("http.listen") && error.contains("0.0.0.0:50080"), "{error}");
        assert!(config.warnings()[0].contains("0.0.0.0:50080"));
    }

    #[test]
    fn plain_text_for_other_machines_is_warned_of() {
        assert!(listening_on("10.0.0.7:1").warnings()[0].contains("[server.tls]"));
        assert!(listening_on("127.0.0.1:50051").warnings().is_empty());
        let mut encrypted = listening_on("10.0.0.7:1");
        encrypted.server.tls = Tls { cert: Some("c".into()), key: Some("k".into()), ..Tls::default() };
        assert!(encrypted.warnings().is_empty());
        assert!(encrypted.check_exposure().is_err(), "TLS does not authenticate");
    }

    #[test]
    fn with_credentials_any_address_is_served() {
        let users = vec![AuthUser::new("riley".parse().unwrap(), "s3cret-token".into())];
        let config = Config { auth: Auth { users, ..Auth::default() }, ..listening_on("0.0.0.0:50051") };
        assert!(config.check_exposure().is_ok());
    }
}
