//! Whether a user has a right to a tool, and which line says so.

use super::{Auth, AuthUser, Right, Rule, RuleTarget, Who};
use toolwire_tool::context::{Acceptance, KnownBy, User};

/// A decision, with the place of the line that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision<'a> {
    Allowed(&'a str),
    Denied(&'a str),
    /// The line at this place allows it to tokens that have the scope, which the user's has not.
    LacksScope {
        at: &'a str,
        scope: &'a str,
    },
    /// No line allows it.
    NotAllowed,
}

impl Auth {
    /// Whether the user has a right to a tool, which need not exist.
    pub fn decide<'a>(&'a self, user: &User, right: Right, tool: RuleTarget<'_>) -> Decision<'a> {
        let mut of_user = self.rules.iter().filter(|rule| rule.is_of(user, right) && rule.covers(tool));
        if let Some(rule) = of_user.clone().find(|rule| rule.denies) {
            return Decision::Denied(&rule.at);
        }
        if let Some(entry) = self.entries(user).find(|entry| entry.has_right(right, tool.name)) {
            return Decision::Allowed(&entry.at);
        }
        if let Some(rule) = of_user.next() {
            return Decision::Allowed(&rule.at);
        }
        // Of the rules that name the user, those for which a scope is missing are left.
        let mut left = self.rules.iter().filter(|rule| rule.names(user, right) && rule.covers(tool));
        left.find_map(|rule| Some(Decision::LacksScope { at: &rule.at, scope: rule.scope.as_deref()? }))
            .unwrap_or(Decision::NotAllowed)
    }

    pub fn may(&self, user: &User, right: Right, tool: RuleTarget<'_>) -> bool {
        if self.rules.is_empty() {
            return self.entries(user).any(|entry| entry.has_right(right, tool.name));
        }
        matches!(self.decide(user, right, tool), Decision::Allowed(_))
    }

    /// Whether the user may call a tool of any name.
    pub fn may_call_all(&self, user: &User) -> bool {
        let mut rules = self.rules.iter().filter(|rule| rule.is_of(user, Right::Call));
        if rules.clone().any(|rule| rule.denies) {
            return false;
        }
        self.entries(user).any(AuthUser::may_call_all) || rules.any(Rule::covers_all)
    }

    /// Whether the user has a right to some tool, which need not exist.
    pub fn may_some(&self, user: &User, right: Right) -> bool {
        let mut rules = self.rules.iter().filter(|rule| rule.is_of(user, right));
        if rules.clone().any(|rule| rule.denies && rule.covers_all()) {
            return false;
        }
        self.entries(user).any(|entry| entry.has_some(right)) || rules.any(|rule| !rule.denies)
    }

    /// The rule that shuts the user out, if one does: no request of theirs is served.
    pub fn shut_out_by(&self, user: &User) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.shuts_out() && rule.is_for(user))
    }

    /// The users and groups that rules shut out.
    pub fn shut_out(&self) -> impl Iterator<Item = &Who> {
        self.rules.iter().filter(|rule| rule.shuts_out()).flat_map(|rule| &rule.who)
    }

    /// Whether no rule shuts the user out, and what made a caller this user is still configured: an issuer as it was,
    /// or a trust domain as it was, and the groups that a workload had by its entry. Not here: whether the same static
    /// token is.
    pub fn knows(&self, user: &User) -> bool {
        self.shut_out_by(user).is_none() && self.has_credentials_of(user)
    }

    fn has_credentials_of(&self, user: &User) -> bool {
        match user.known_by {
            KnownBy::Token => self.entries(user).next().is_some(),
            KnownBy::Issuer => {
                let acceptance = user.grant.as_deref().and_then(|grant| grant.acceptance.as_ref());
                acceptance.is_some_and(|token| self.still_accepts(token))
            }
            KnownBy::Certificate => self.gives_groups_of(user),
            KnownBy::JwtSvid => {
                let acceptance = user.grant.as_deref().and_then(|grant| grant.acceptance.as_ref());
                self.gives_groups_of(user) && acceptance.is_some_and(|token| self.still_accepts(token))
            }
            KnownBy::Process | KnownBy::Loopback => true,
        }
    }

    /// Whether a token that was accepted would be accepted now, by the settings of its issuer or trust domain.
    pub fn still_accepts(&self, token: &Acceptance) -> bool {
        self.issuers.iter().any(|it| it.still_accepts(token))
            || self.trust_domains.iter().any(|it| it.still_accepts(token))
    }

    /// Whether the entry of a workload still makes it this user with these groups.
    fn gives_groups_of(&self, user: &User) -> bool {
        self.workload(user).is_some_and(|entry| {
            let mut groups = user.grant.iter().flat_map(|grant| &grant.groups);
            groups.all(|group| entry.groups.contains(group))
        })
    }

    pub(super) fn entries<'a>(&'a self, user: &User) -> impl Iterator<Item = &'a AuthUser> {
        self.users.iter().filter(|entry| entry.user_id == user.id)
    }
}
