//! Configuration: one struct a concern. The only place that reads the environment and files of settings.
//!
//! Flags win over environment variables, those over `toolwire.toml`, and that over defaults. Not here: what the settings
//! do. Every struct names, for each field, the flag, the variable and the default.

mod admin;
mod auth;
mod client;
mod data;
pub mod duration;
mod error;
mod extract;
mod layer;
mod limits;
mod load;
mod log;
mod origins;
mod print;
mod profiles;
mod server;
mod setting;
mod size;
mod sources;
mod telemetry;
mod unknown;
mod upstream;

pub use admin::Admin;
pub use auth::{Auth, AuthUser, InvalidPattern, ToolPattern};
pub use client::Client;
pub use data::Data;
pub use error::{ConfigError, Problem};
pub use limits::Limits;
pub use load::{Loaded, load};
pub use log::{Log, LogFormat};
pub use origins::{Origin, Origins};
pub use print::print;
pub use profiles::{Forbidden, Profiles, WaitZone};
pub use server::{Drain, Server};
pub use sources::{Environment, Flags, Sources};
pub use telemetry::Telemetry;
pub use upstream::{
    Budget, CoolDown, Credentials, InvalidMode, Mode, Modes, News, Nse, Policy, Reddit, RedditCredentials,
    Screen, Screener, SourcePolicy, Upstream, Upstreams, ValuePickr, Yahoo,
};

/// Everything that can be set.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The gRPC server.
    pub server: Server,
    /// The data that tools read.
    pub data: Data,
    /// The sources that the research tools ask.
    pub upstreams: Upstreams,
    /// Who may call.
    pub auth: Auth,
    /// The rules by which stocks are judged.
    pub profiles: Profiles,
    /// The log.
    pub log: Log,
    /// The admin endpoint.
    pub admin: Admin,
    /// Traces and metrics.
    pub telemetry: Telemetry,
}

impl Config {
    /// Refuses to serve other machines while nobody needs credentials.
    pub fn check_exposure(&self) -> Result<(), ConfigError> {
        let listen = self.server.listen;
        if !self.auth.users.is_empty() || listen.ip().to_canonical().is_loopback() {
            return Ok(());
        }
        let what = format!(
            "{listen} can be reached from other machines, but no credentials are configured. Add [[auth.users]] with \
             user_id and token to toolwire.toml, or listen on 127.0.0.1:{}",
            listen.port()
        );
        Err(ConfigError::one("server.listen", what))
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
    fn with_credentials_any_address_is_served() {
        let users = vec![AuthUser::new("riley".parse().unwrap(), "s3cret-token".into())];
        let config = Config { auth: Auth { users }, ..listening_on("0.0.0.0:50051") };
        assert!(config.check_exposure().is_ok());
    }
}
