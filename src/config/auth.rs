//! Who may call: users with static bearer tokens. They stand in the file only; a token may be kept in a variable.
//!
//! Not here: comparing tokens, which the server does without telling how much of one was right.

mod pattern;

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use super::{Environment, Problem, data::user_id};
use crate::context::UserId;

pub use pattern::{InvalidPattern, ToolPattern};

/// What is printed instead of a secret; refused as a token, lest a printed configuration opens a door.
pub(super) const HIDDEN: &str = "[hidden]";

/// Who may call: `[[auth.users]]`. Without users nobody needs credentials, and only this machine is served.
#[derive(Clone, Debug, Default)]
pub struct Auth {
    /// The users.
    pub users: Vec<AuthUser>,
}

/// A user who presents a static bearer token.
#[derive(Clone, Debug)]
pub struct AuthUser {
    /// The user. Required. Several entries may name the same user, such as while a token is replaced; they differ in the
    /// token alone.
    pub user_id: UserId,
    /// E-mail address. Default none.
    pub email: Option<String>,
    /// Role. Default none.
    pub role: Option<String>,
    /// The bearer token. Required: `token`, or `token_env` with the name of the variable that holds it.
    pub token: SecretString,
    /// Which tools the user may call. Default `["*"]`.
    pub tools: Vec<ToolPattern>,
}

/// The table `[auth]` as it stands in the file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Table {
    users: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(deserialize_with = "user_id")]
    user_id: UserId,
    email: Option<String>,
    role: Option<String>,
    token: Option<SecretString>,
    token_env: Option<String>,
    #[serde(default = "ToolPattern::everything")]
    tools: Vec<ToolPattern>,
}

impl AuthUser {
    /// A user who may call every tool.
    pub fn new(user_id: UserId, token: SecretString) -> Self {
        Self { user_id, email: None, role: None, token, tools: ToolPattern::everything() }
    }

    /// Whether the user may call a tool of this name.
    pub fn may_call(&self, tool: &str) -> bool {
        self.tools.iter().any(|pattern| pattern.matches(tool))
    }

    fn rights(&self) -> (Option<&str>, Option<&str>, &[ToolPattern]) {
        (self.email.as_deref(), self.role.as_deref(), &self.tools)
    }
}

impl Table {
    /// The names of the variables that hold tokens.
    pub(super) fn variables(&self) -> impl Iterator<Item = &str> {
        self.users.iter().filter_map(|entry| entry.token_env.as_deref())
    }

    /// The users with their tokens, or what is wrong with each.
    pub(super) fn resolve(self, environment: &Environment) -> Result<Auth, Vec<Problem>> {
        let (mut users, mut problems): (Vec<AuthUser>, _) = (Vec::new(), Vec::new());
        for (index, entry) in self.users.into_iter().enumerate() {
            let problem = |what| Problem::new(format!("auth.users.{index}"), what);
            match entry.resolve(environment).and_then(|user| beside(&users, user)) {
                Ok(user) => users.push(user),
                Err(what) => problems.push(problem(what)),
            }
        }
        if problems.is_empty() { Ok(Auth { users }) } else { Err(problems) }
    }
}

impl Entry {
    fn resolve(self, environment: &Environment) -> Result<AuthUser, String> {
        let token = match (self.token, self.token_env) {
            (Some(token), None) => token,
            (None, Some(name)) => match environment.get(&name) {
                Some(token) => token.into(),
                None => return Err(format!("token_env names {name}, which is not set; set it to the token")),
            },
            (None, None) => return Err("expected token, or token_env with the name of a variable".to_owned()),
            (Some(_), Some(_)) => return Err("expected token or token_env, not both; remove one".to_owned()),
        };
        check_token(token.expose_secret())?;
        let Self { user_id, email, role, tools, .. } = self;
        Ok(AuthUser { user_id, email, role, token, tools })
    }
}

fn check_token(token: &str) -> Result<(), String> {
    if token == HIDDEN {
        return Err(format!("token is {HIDDEN}, which only stands for one; write the token itself"));
    }
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("token must be visible ASCII characters without spaces, at least one".to_owned());
    }
    Ok(())
}

/// The user, if no earlier entry says otherwise: who a token stands for and what a user may do must not depend on order.
fn beside(earlier: &[AuthUser], user: AuthUser) -> Result<AuthUser, String> {
    let same_token = |other: &AuthUser| other.token.expose_secret() == user.token.expose_secret();
    let other_rights = |other: &AuthUser| other.user_id == user.user_id && other.rights() != user.rights();
    if earlier.iter().any(same_token) {
        return Err("its token belongs to an earlier entry too; give each its own".to_owned());
    }
    if earlier.iter().any(other_rights) {
        return Err(
            "an earlier entry of the same user has another email, role or tools; make them equal".to_owned()
        );
    }
    Ok(user)
}
