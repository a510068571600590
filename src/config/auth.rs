//! Users who may call, by static bearer tokens, tokens of identity providers and trust domains or client certificates,
//! and their rights. They are set in the file only; a token may be kept in a variable.

mod changes;
mod decision;
mod entry_names;
mod issuers;
mod rule_target;
mod rules;
mod rules_for_nobody;
mod scopes;
mod token;
mod token_settings;
mod trust_domains;
mod who;
mod workloads;

use secrecy::SecretString;

use super::{
    Network, Setting, ToolPattern, Toolsets,
    fields::Fields,
    reader::Reader,
    value::{HIDDEN, Value},
};
use toolwire_identity::{Issuer, Signer, SpiffeId, TrustDomain};
use toolwire_tool::context::{User, UserId};

pub(crate) use entry_names::EntryNames;

pub use decision::Decision;
pub use rule_target::{RuleTarget, TargetFacts, ToolCategory};
pub use rules::{Right, Rule};
pub use token::TokenDigest;
pub use who::Who;
pub use workloads::WorkloadUser;

/// Users who may call: `[auth]`. Without users, issuers, trust domains and workloads credentials are not required, and
/// only this machine is served.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Auth {
    pub users: Vec<AuthUser>,
    /// The identity providers whose users may present their tokens.
    pub issuers: Vec<Issuer>,
    /// The trust domains whose workloads may present their tokens.
    pub trust_domains: Vec<TrustDomain>,
    /// The workloads that are users, by certificates or tokens.
    pub workloads: Vec<WorkloadUser>,
    /// The proxies that are believed what they say of their clients' certificates. Default none.
    pub trusted_proxies: Vec<Network>,
    /// What users may. Those of issuers and workloads may nothing else.
    pub rules: Vec<Rule>,
}

/// The names that issuers and trust domains have in the file.
#[derive(Debug, Default)]
pub(crate) struct SignerNames {
    pub(crate) issuers: EntryNames,
    pub(crate) trust_domains: EntryNames,
}

/// A user who presents a static bearer token.
#[derive(Clone, Debug, PartialEq)]
pub struct AuthUser {
    /// The user. Required. Several entries may name the same user, such as while a token is replaced; they differ in
    /// the token alone.
    pub user_id: UserId,
    /// E-mail address. Default none.
    pub email: Option<String>,
    /// Role. Default none.
    pub role: Option<String>,
    /// The bearer token. Required: `token`, `token_env` with the name of the variable that holds it, or `token_sha256`
    /// with its digest. `None` where that variable is not set: no token is this user's.
    pub token: Option<TokenDigest>,
    /// Which tools the user may call. Default `["*"]`.
    pub tools: Vec<ToolPattern>,
    /// The tools of which the user may approve calls; the user's own calls only where `confirmations.own_calls` says
    /// so. Default none.
    pub approve: Vec<ToolPattern>,
    /// Whether the user sees all users' confirmations and calls, whole. Default `false`.
    pub observe: bool,
    /// Where the entry stands. Not a setting.
    pub at: String,
}

impl AuthUser {
    /// A user who may call every tool.
    pub fn new(user_id: UserId, token: SecretString) -> Self {
        Self {
            user_id,
            email: None,
            role: None,
            token: Some(token.into()),
            tools: ToolPattern::everything(),
            approve: Vec::new(),
            observe: false,
            at: "auth.users".to_owned(),
        }
    }

    /// Whether the user may call a tool of this name.
    pub fn may_call(&self, tool: &str) -> bool {
        self.tools.iter().any(|pattern| pattern.matches(tool))
    }

    /// Whether the user may call a tool of any name.
    pub fn may_call_all(&self) -> bool {
        self.tools.iter().any(ToolPattern::is_everything)
    }

    /// Whether the entry gives a right to a tool of this name.
    pub(crate) fn has_right(&self, right: Right, tool: &str) -> bool {
        match right {
            Right::Call => self.may_call(tool),
            Right::Approve => self.approve.iter().any(|pattern| pattern.matches(tool)),
            Right::Observe | Right::ReadRecords => self.observe,
        }
    }

    /// Whether the entry gives a right to some tool.
    pub(crate) fn has_some(&self, right: Right) -> bool {
        match right {
            Right::Call => !self.tools.is_empty(),
            Right::Approve => !self.approve.is_empty(),
            Right::Observe | Right::ReadRecords => self.observe,
        }
    }

    /// Whether this is the token of the user.
    pub(super) fn presents(&self, token: &TokenDigest) -> bool {
        self.token.as_ref() == Some(token)
    }

    fn rights(&self) -> (Option<&str>, Option<&str>, &[ToolPattern], &[ToolPattern], bool) {
        (self.email.as_deref(), self.role.as_deref(), &self.tools, &self.approve, self.observe)
    }
}

impl Auth {
    pub(super) fn read(reader: &mut Reader, toolsets: &Toolsets) -> (Self, SignerNames) {
        let mut users: Vec<AuthUser> = Vec::new();
        for mut entry in reader.list("auth.users") {
            let (user, weakness) = AuthUser::read(&mut entry, reader).unzip();
            let fits = user.and_then(|user| beside(&users, user).map_err(|what| entry.problem(what)).ok());
            let weak = weakness.flatten().map(|what| entry.problem_here(what));
            if reader.end(entry) {
                reader.warnings.extend(weak);
                users.extend(fits);
            }
        }
        for user in &users {
            user.show(reader);
        }
        let (issuers, issuer_names) = issuers::read_all(reader);
        let (trust_domains, domain_names) = trust_domains::read_all(reader);
        let workloads = WorkloadUser::read_all(reader, &users);
        let rules = Rule::read_all(reader, &issuer_names, toolsets);
        let proxies = Setting::new("auth.trusted_proxies", "TOOLWIRE_AUTH_TRUSTED_PROXIES");
        let trusted_proxies = reader.values(proxies, Vec::new());
        let auth = Self { users, issuers, trust_domains, workloads, trusted_proxies, rules }.check(reader);
        (auth, SignerNames { issuers: issuer_names, trust_domains: domain_names })
    }

    /// Whether credentials are not required.
    pub fn is_open(&self) -> bool {
        self.users.is_empty() && self.signers().next().is_none() && self.workloads.is_empty()
    }

    /// The issuers and trust domains.
    pub fn signers(&self) -> impl Iterator<Item = Signer> {
        let domains = self.trust_domains.iter().cloned().map(Signer::from);
        self.issuers.iter().cloned().map(Signer::from).chain(domains)
    }

    /// The entry by which a user is the workload that the credentials prove. `None` of other users.
    pub fn workload(&self, user: &User) -> Option<&WorkloadUser> {
        let id: SpiffeId = user.own_workload()?.parse().ok()?;
        self.workload_of(&id).filter(|it| it.user == user.id)
    }

    /// The entry of a workload.
    pub fn workload_of(&self, id: &SpiffeId) -> Option<&WorkloadUser> {
        self.workloads.iter().find(|it| it.id.matches(id))
    }

    fn check(self, reader: &mut Reader) -> Self {
        // Entries that cannot be used are problems of their own.
        let keys = ["auth.users", "auth.issuers", "auth.trust_domains", "auth.spiffe"];
        let has_entries = keys.iter().any(|key| reader.is_set(key));
        if self.is_open() && !has_entries && !self.rules.is_empty() {
            let what = "there is nobody whom a rule could be for; add [[auth.users]], [[auth.issuers]] or [[auth.spiffe]]";
            reader.problem("auth.rules", what);
        }
        // The ids of users of issuers hold one, and no two users share an id.
        let is_mistakable = |user: &&AuthUser| user.user_id.as_str().contains(':');
        if let Some(user) = self.users.iter().find(is_mistakable).filter(|_| !self.issuers.is_empty()) {
            let what = format!(
                "{} holds a colon, as the users of [[auth.issuers]] do; rename the user",
                user.user_id
            );
            reader.problem("auth.users", what);
        }
        reader.warnings.extend(rules_for_nobody::users(&self));
        reader.problems.extend(rules_for_nobody::groups(&self));
        reader.problems.extend(rules_for_nobody::workloads(&self));
        self
    }
}

impl AuthUser {
    /// The user, and what is weak about the token.
    fn read(entry: &mut Fields, reader: &mut Reader) -> Option<(Self, Option<&'static str>)> {
        let user_id = entry.required("user_id");
        let (email, role) = (entry.optional("email"), entry.optional("role"));
        let token = TokenDigest::read(entry, reader);
        let tools = entry.optional("tools").unwrap_or_else(ToolPattern::everything);
        let approve = entry.optional("approve").unwrap_or_default();
        let observe = entry.optional("observe").unwrap_or(false);
        let (token, weakness) = token?.unzip();
        let at = entry.problem_here("").at;
        Some((
            Self { user_id: user_id?, email, role, token, tools, approve, observe, at },
            weakness.flatten(),
        ))
    }

    fn show(&self, reader: &mut Reader) {
        let pairs = [
            ("user_id", Some(self.user_id.to_toml())),
            ("email", self.email.as_ref().map(Value::to_toml)),
            ("role", self.role.as_ref().map(Value::to_toml)),
            ("token", self.token.map(|_| HIDDEN.to_owned().to_toml())),
            ("tools", Some(self.tools.to_toml())),
            ("approve", Some(self.approve.to_toml())),
            ("observe", Some(self.observe.to_toml())),
        ];
        let set: Vec<_> = pairs.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        reader.show_entry("[[auth.users]]", &set);
    }
}

/// The user, if no earlier entry says otherwise: the owner of a token and the rights of a user must not depend on
/// order.
fn beside(earlier: &[AuthUser], user: AuthUser) -> Result<AuthUser, String> {
    let same_token = |other: &AuthUser| user.token.is_some_and(|token| other.presents(&token));
    let other_rights = |other: &AuthUser| other.user_id == user.user_id && other.rights() != user.rights();
    if earlier.iter().any(same_token) {
        return Err("its token belongs to an earlier entry too; give each its own".to_owned());
    }
    if earlier.iter().any(other_rights) {
        return Err(
            "an earlier entry of the same user has another email, role or rights; make them equal".to_owned()
        );
    }
    Ok(user)
}

#[cfg(test)]
mod tests;
