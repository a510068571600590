//! `toolwire explain`: what a call would come to (`call/prospect`), and which line of the configuration gives a user a
//! right to a tool, or takes it. The latter asks no server.

use std::{collections::BTreeSet, fmt::Write, str::FromStr, sync::Arc};

use clap::{Args, Subcommand, builder::PossibleValuesParser};
use strum::VariantNames;

use super::{call::prospect::ExplainCall, settings::Settings, wiring};
use toolwire_config::{Auth, Consequence, Decision, Right, Rule, RuleTarget, TargetFacts, ToolCategory, Who};
use toolwire_contract::near::{did_you_mean, question};
use toolwire_engine::registry::RegisteredTool;
use toolwire_identity::SpiffeId;
use toolwire_server::{
    console::{self, Failure},
    domain::Domain,
};
use toolwire_tool::context::{Grant, KnownBy, User};

/// Says what a call would come to, or why a user may or may not
#[derive(Debug, Args)]
pub(super) struct Explain {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Says what a call would come to, without making it: ends with 1 if it would fail, 3 if a person must approve it
    Call(Box<ExplainCall>),
    /// Prints the line of the configuration that decides whether USER has a right to TOOL, and ends with 1 if not
    Rule(Box<RuleArgs>),
}

#[derive(Debug, Args)]
struct RuleArgs {
    /// The user, such as riley, corp:8f2c of the issuer corp, or a workload by its id, spiffe://example.org/agent
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

/// A decision, and the words for it.
struct Explained {
    is_allowed: bool,
    text: String,
}

impl Explain {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        match self.what {
            What::Call(call) => call.run(domains).await,
            What::Rule(rule) => rule.run(domains),
        }
    }
}

impl RuleArgs {
    fn run(&self, domains: &[Domain]) -> Result<(), Failure> {
        let config = self.settings.load(domains)?.config;
        // Tools matter to rules by more than their names alone.
        let offered = if config.auth.rules.iter().any(Rule::is_conditional) {
            wiring::open(&config, domains)?.registry.snapshot().get(&self.tool).cloned()
        } else {
            None
        };
        for name in self.unknown_names(&config.auth) {
            console::say(&format!("warning: {name}"));
        }
        let explained = self.explain(&config.auth, offered.as_deref()).map_err(Failure::Usage)?;
        console::print(&explained.text)?;
        if explained.is_allowed { Ok(()) } else { Err(Failure::Reported) }
    }

    /// The names that are said of the user and are in no line of the configuration: most are mistyped.
    fn unknown_names(&self, auth: &Auth) -> Vec<String> {
        if auth.is_open() {
            return Vec::new();
        }
        let in_rules = auth.rules.iter().flat_map(|rule| &rule.who).map(ToString::to_string);
        let users = auth.users.iter().map(|it| format!("user:{}", it.user_id));
        let groups = auth.workloads.iter().flat_map(|it| &it.groups).map(|it| format!("group:{it}"));
        let workloads = auth.workloads.iter().map(|it| format!("user:{}", it.user));
        let known: BTreeSet<_> = in_rules.chain(users).chain(groups).chain(workloads).collect();
        let unknown = |kind: &str, name: &str| {
            let who = Who::parse(&format!("{kind}:{name}"), &auth.issuers).ok()?.to_string();
            if known.contains(&who) {
                return None;
            }
            let alike = known.iter().filter_map(|it| it.strip_prefix(kind)?.strip_prefix(':'));
            let near = did_you_mean(name, alike.clone());
            let of_issuers: Vec<_> = alike.filter(|it| is_of_issuer(it, name)).map(str::to_owned).collect();
            let near = if near.is_empty() { question(&of_issuers) } else { near };
            // A user of an issuer is known to rules by groups.
            let is_by_groups = kind == "user" && name.contains(':') && near.is_empty();
            (!is_by_groups).then(|| format!("no line names the {kind} {name}{near}"))
        };
        let user = if self.user.starts_with(SpiffeId::SCHEME) { None } else { unknown("user", &self.user) };
        user.into_iter().chain(self.groups.iter().filter_map(|it| unknown("group", it))).collect()
    }

    /// The decision in words.
    fn explain(&self, auth: &Auth, offered: Option<&RegisteredTool>) -> Result<Explained, String> {
        if auth.is_open() {
            let text = "allowed: no credentials are configured, and every process of this machine may";
            return Ok(Explained { is_allowed: true, text: text.to_owned() });
        }
        let (user, right) = (self.user(auth)?, self.may.parse::<Right>().expect("clap knows them"));
        let target = RuleTarget { name: &self.tool, facts: self.facts(offered) };
        let decision = auth.decide(&user, right, target);
        let is_allowed = matches!(decision, Decision::Allowed(_));
        let mut text = match decision {
            Decision::Allowed(at) => format!("allowed: {at}"),
            Decision::Denied(at) => format!("denied: {at}"),
            Decision::LacksScope { at, scope } => {
                format!("denied: {at} allows it to a token with the scope {scope}, which this one has not")
            }
            Decision::NotAllowed => "denied: no line allows it".to_owned(),
        };
        if let Some(rule) = auth.shut_out_by(&user) {
            let _ = write!(
                text,
                "\n{} shuts the user out: every request is refused as by wrong credentials",
                rule.at
            );
        }
        if target.facts.is_none() && auth.rules.iter().any(Rule::is_conditional) {
            text.push_str(
                "\nThis server has no such tool by itself: say what it is by --tag, --category and --consequence, by which \
                 rules may decide",
            );
        }
        Ok(Explained { is_allowed, text })
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
        if self.user.starts_with(SpiffeId::SCHEME) {
            return self.workload(auth);
        }
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
        let by_certificate = user.clone().with_known_by(KnownBy::Certificate);
        Ok(if auth.workload(&by_certificate).is_some() { by_certificate } else { user })
    }

    /// The user that a workload is: by its token if its trust domain signs some that are accepted, or else by its
    /// certificate.
    fn workload(&self, auth: &Auth) -> Result<User, String> {
        let id = self.user.parse::<SpiffeId>().map_err(|what| format!("USER: {what}"))?;
        let entry = auth.workload_of(&id).ok_or_else(|| {
            format!("no id of [[auth.spiffe]] matches {id}, which is no user therefore; add an entry for it")
        })?;
        if !self.groups.is_empty() {
            return Err(format!(
                "the groups of a workload are those of [[auth.spiffe]] {}; leave --group out",
                entry.id
            ));
        }
        let grant = Grant {
            groups: entry.groups.clone(),
            scopes: self.scopes.clone(),
            ends_at: None,
            acceptance: None,
        };
        let user = User { grant: Some(Arc::new(grant)), ..User::new(entry.user.clone()) };
        if auth.trust_domains.iter().any(|it| it.name == id.trust_domain()) {
            let workload = self.via.as_ref().map(SpiffeId::shared);
            return Ok(User { workload, svid: Some(id.shared()), ..user }.with_known_by(KnownBy::JwtSvid));
        }
        match &self.via {
            Some(via) if *via != id => Err(format!(
                "[[auth.trust_domains]] does not name {}, so that {id} is a user by its own certificate alone; leave \
                 --via out",
                id.trust_domain()
            )),
            _ => Ok(User { workload: Some(id.shared()), ..user }.with_known_by(KnownBy::Certificate)),
        }
    }
}

/// Whether a name is this one of an issuer: `corp/support` for `support`.
fn is_of_issuer(name: &str, bare: &str) -> bool {
    name.split_once(['/', ':']).is_some_and(|(_, it)| it.eq_ignore_ascii_case(bare))
}

/// The value of a flag whose words clap knows, or the default.
fn parse_or<T: FromStr>(given: Option<&str>, default: T) -> T {
    given.and_then(|word| word.parse().ok()).unwrap_or(default)
}
