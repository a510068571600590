//! `toolwire explain rule`: which line of the configuration gives a user a right to a tool, or takes it. It asks no
//! server.

use std::{sync::Arc, time::UNIX_EPOCH};

use clap::{Args, Subcommand};

use super::settings::Settings;
use toolwire_config::{Auth, Decision, Right, Who};
use toolwire_server::{
    console::{self, Failure},
    domain::Domain,
};
use toolwire_tool::context::{Grant, User};

/// Says why a user may or may not
#[derive(Debug, Args)]
pub(super) struct Explain {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Prints the line of the configuration that decides whether USER has a right to TOOL
    Rule(RuleArgs),
}

#[derive(Debug, Args)]
struct RuleArgs {
    /// The user, such as riley, or corp:8f2c of the issuer corp
    #[arg(value_name = "USER")]
    user: String,
    /// The tool, which need not exist
    #[arg(value_name = "TOOL")]
    tool: String,
    /// A group that the token names, such as corp/support; may be repeated
    #[arg(long = "group", value_name = "GROUP")]
    groups: Vec<String>,
    /// A scope that the token has; may be repeated
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    /// The right
    #[arg(long, value_name = "RIGHT", default_value = "call", value_parser = ["call", "approve", "observe"])]
    may: String,
    #[command(flatten)]
    settings: Settings,
}

impl Explain {
    pub(super) fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let What::Rule(rule) = self.what;
        let config = rule.settings.load(domains)?.config;
        console::print(&rule.explain(&config.auth).map_err(Failure::Usage)?)
    }
}

impl RuleArgs {
    /// The decision in words.
    fn explain(&self, auth: &Auth) -> Result<String, String> {
        if auth.is_open() {
            return Ok(
                "allowed: no credentials are configured, and every process of this machine may".to_owned()
            );
        }
        let (user, right) = (self.user(auth)?, self.may.parse::<Right>().expect("clap knows them"));
        Ok(match auth.decide(&user, right, &self.tool) {
            Decision::Allowed(at) => format!("allowed: {at}"),
            Decision::Denied(at) => format!("denied: {at}"),
            Decision::NotAllowed => "denied: no line allows it".to_owned(),
        })
    }

    /// The user, with what a token would say.
    fn user(&self, auth: &Auth) -> Result<User, String> {
        let id = match Who::parse(&format!("user:{}", self.user), &auth.issuers)? {
            Who::User(id) | Who::Group(id) => id,
        };
        let group = |group: &String| -> Result<String, String> {
            match Who::parse(&format!("group:{group}"), &auth.issuers)? {
                Who::User(id) | Who::Group(id) => Ok(id),
            }
        };
        let groups = self.groups.iter().map(group).collect::<Result<_, String>>()?;
        let grant = Grant { groups, scopes: self.scopes.clone(), ends_at: UNIX_EPOCH };
        let user = User::new(id.parse().map_err(|what| format!("USER {what}"))?);
        Ok(User { grant: Some(Arc::new(grant)), ..user })
    }
}
