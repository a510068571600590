//! `toolwire explain rule`: which line of the configuration gives a user a right to a tool, or takes it. It asks no
//! server.

use std::{fmt::Write, str::FromStr, sync::Arc};

use clap::{Args, Subcommand, builder::PossibleValuesParser};
use strum::VariantNames;

use super::{settings::Settings, wiring};
use toolwire_config::{Auth, Consequence, Decision, Right, Rule, RuleTarget, TargetFacts, ToolCategory, Who};
use toolwire_engine::registry::RegisteredTool;
use toolwire_identity::SpiffeId;
use toolwire_server::{
    console::{self, Failure},
    domain::Domain,
};
use toolwire_tool::context::{Grant, KnownBy, User};

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
    /// The SPIFFE id of the certificate that brings the request
    #[arg(long, value_name = "SPIFFE_ID")]
    via: Option<SpiffeId>,
    /// A tag of the tool, if it is one that a program or another server offers; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// The category of such a tool [default: write]
    #[arg(long, value_name = "CATEGORY", value_parser = PossibleValuesParser::new(ToolCategory::VARIANTS))]
    category: Option<String>,
    /// The consequence level of such a tool [default: high]
    #[arg(long, value_name = "LEVEL", value_parser = PossibleValuesParser::new(Consequence::VARIANTS))]
    consequence: Option<String>,
    /// The right
    #[arg(long, value_name = "RIGHT", default_value = "call")]
    #[arg(value_parser = PossibleValuesParser::new(Right::VARIANTS))]
    may: String,
    #[command(flatten)]
    settings: Settings,
}

impl Explain {
    pub(super) fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let What::Rule(rule) = self.what;
        let config = rule.settings.load(domains)?.config;
        // Tools matter to rules by more than their names alone.
        let offered = if config.auth.rules.iter().any(Rule::is_conditional) {
            wiring::open(&config, domains)?.registry.snapshot().get(&rule.tool).cloned()
        } else {
            None
        };
        console::print(&rule.explain(&config.auth, offered.as_deref()).map_err(Failure::Usage)?)
    }
}

impl RuleArgs {
    /// The decision in words.
    fn explain(&self, auth: &Auth, offered: Option<&RegisteredTool>) -> Result<String, String> {
        if auth.is_open() {
            return Ok(
                "allowed: no credentials are configured, and every process of this machine may".to_owned()
            );
        }
        let (user, right) = (self.user(auth)?, self.may.parse::<Right>().expect("clap knows them"));
        let target = RuleTarget { name: &self.tool, facts: self.facts(offered) };
        let mut explained = match auth.decide(&user, right, target) {
            Decision::Allowed(at) => format!("allowed: {at}"),
            Decision::Denied(at) => format!("denied: {at}"),
            Decision::LacksScope { at, scope } => {
                format!("denied: {at} allows it to a token with the scope {scope}, which this one has not")
            }
            Decision::NotAllowed => "denied: no line allows it".to_owned(),
        };
        if let Some(rule) = auth.shut_out_by(&user) {
            let _ = write!(
                explained,
                "\n{} shuts the user out: every request is refused as by wrong credentials",
                rule.at
            );
        }
        if target.facts.is_none() && auth.rules.iter().any(Rule::is_conditional) {
            explained.push_str(
                "\nThis server has no such tool by itself: say what it is by --tag, --category and --consequence, by which \
                 rules may decide",
            );
        }
        Ok(explained)
    }

    /// What is said of the tool: by the flags if there are any.
    fn facts<'a>(&'a self, offered: Option<&'a RegisteredTool>) -> Option<TargetFacts<'a>> {
        if self.tags.is_empty() && self.category.is_none() && self.consequence.is_none() {
            return offered.and_then(|tool| tool.definition.rule_target().facts);
        }
        Some(TargetFacts {
            tags: &self.tags,
            category: parse_or(self.category.as_deref(), ToolCategory::Write),
            consequence: parse_or(self.consequence.as_deref(), Consequence::High),
        })
    }

    /// The user, with what a token would say.
    fn user(&self, auth: &Auth) -> Result<User, String> {
        let id = |text: &str| Who::parse(text, &auth.issuers).map(|who| who.id().to_owned());
        let group = |group: &String| id(&format!("group:{group}"));
        let id = id(&format!("user:{}", self.user))?;
        let mut groups = self.groups.iter().map(group).collect::<Result<Vec<_>, String>>()?;
        let of_workload = auth.workloads.iter().filter(|it| it.user.as_str() == id);
        groups.extend(of_workload.flat_map(|it| it.groups.iter().cloned()));
        let grant = Grant { groups, scopes: self.scopes.clone(), ends_at: None, acceptance: None };
        let user = User::new(id.parse().map_err(|what| format!("USER {what}"))?);
        let workload = self.via.as_ref().map(SpiffeId::shared);
        let user = User { grant: Some(Arc::new(grant)), workload, ..user };
        let is_workload = auth.workload(&user).is_some();
        Ok(if is_workload { user.with_known_by(KnownBy::Certificate) } else { user })
    }
}

/// The value of a flag whose words clap knows, or the default.
fn parse_or<T: FromStr>(given: Option<&str>, default: T) -> T {
    given.and_then(|word| word.parse().ok()).unwrap_or(default)
}
