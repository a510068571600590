//! Users who may call, with static bearer tokens. They are set in the file only; a token may be kept in a variable.
//!
//! Not here: comparing tokens, which the server does without telling how much of one was right.

mod pattern;

use std::collections::BTreeSet;

use secrecy::{ExposeSecret, SecretString};

use super::{
    fields::Fields,
    reader::Reader,
    value::{HIDDEN, Value},
};
use toolwire_tool::context::UserId;

pub use pattern::{InvalidPattern, ToolPattern};

/// Shorter tokens are reported as weak.
const LEAST_LENGTH: usize = 16;
/// So are tokens of fewer different characters.
const LEAST_DIFFERENT: usize = 8;

/// Users who may call: `[[auth.users]]`. Without users credentials are not required, and only this machine is served.
#[derive(Clone, Debug, Default)]
pub struct Auth {
    pub users: Vec<AuthUser>,
}

/// A user who presents a static bearer token.
#[derive(Clone, Debug)]
pub struct AuthUser {
    /// The user. Required. Several entries may name the same user, such as while a token is replaced; they differ in
    /// the token alone.
    pub user_id: UserId,
    /// E-mail address. Default none.
    pub email: Option<String>,
    /// Role. Default none.
    pub role: Option<String>,
    /// The bearer token. Required: `token`, or `token_env` with the name of the variable that holds it. `None` where
    /// that variable is not set: no token is this user's.
    pub token: Option<SecretString>,
    /// Which tools the user may call. Default `["*"]`.
    pub tools: Vec<ToolPattern>,
    /// The tools of which the user may approve calls; the user's own calls only where `confirmations.own_calls` says
    /// so. Default none.
    pub approve: Vec<ToolPattern>,
    /// Whether the user sees all users' confirmations. Default `false`.
    pub observe: bool,
}

impl AuthUser {
    /// A user who may call every tool.
    pub fn new(user_id: UserId, token: SecretString) -> Self {
        Self {
            user_id,
            email: None,
            role: None,
            token: Some(token),
            tools: ToolPattern::everything(),
            approve: Vec::new(),
            observe: false,
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

    /// Whether the user may approve calls of a tool of this name.
    pub fn may_approve(&self, tool: &str) -> bool {
        self.approve.iter().any(|pattern| pattern.matches(tool))
    }

    /// Whether this is the token of the user.
    pub(super) fn presents(&self, token: Option<&str>) -> bool {
        token.is_some() && self.token.as_ref().map(ExposeSecret::expose_secret) == token
    }

    fn rights(&self) -> (Option<&str>, Option<&str>, &[ToolPattern], &[ToolPattern], bool) {
        (self.email.as_deref(), self.role.as_deref(), &self.tools, &self.approve, self.observe)
    }
}

impl Auth {
    pub(super) fn read(reader: &mut Reader) -> Self {
        let mut users: Vec<AuthUser> = Vec::new();
        for mut entry in reader.list("auth.users") {
            let user = AuthUser::read(&mut entry, reader);
            let fits = user.and_then(|user| beside(&users, user).map_err(|what| entry.problem(what)).ok());
            let weak = fits.as_ref().and_then(weakness).map(|what| entry.problem_here(what));
            if reader.end(entry) {
                reader.warnings.extend(weak);
                users.extend(fits);
            }
        }
        for user in &users {
            user.show(reader);
        }
        Self { users }
    }
}

impl AuthUser {
    fn read(entry: &mut Fields, reader: &mut Reader) -> Option<Self> {
        let user_id = entry.required("user_id");
        let (email, role) = (entry.optional("email"), entry.optional("role"));
        let token = (entry.optional("token"), entry.optional::<String>("token_env"));
        let tools = entry.optional("tools").unwrap_or_else(ToolPattern::everything);
        let approve = entry.optional("approve").unwrap_or_default();
        let observe = entry.optional("observe").unwrap_or(false);
        let token = match token {
            (Some(token), None) => Ok(Some(token)),
            (None, Some(name)) => Ok(reader.token(&name, entry).map(SecretString::from)),
            (Some(_), Some(_)) => Err("expected token or token_env, not both; remove one".to_owned()),
            (None, None) if entry.has("token") || entry.has("token_env") => return None,
            (None, None) => Err("expected token, or token_env with the name of a variable".to_owned()),
        };
        let token = token.and_then(|token: Option<SecretString>| {
            token.as_ref().map_or(Ok(()), |it| check_token(it.expose_secret())).map(|()| token)
        });
        let token = token.map_err(|what| entry.problem(what)).ok()?;
        Some(Self { user_id: user_id?, email, role, token, tools, approve, observe })
    }

    fn show(&self, reader: &mut Reader) {
        let pairs = [
            ("user_id", Some(self.user_id.to_toml())),
            ("email", self.email.as_ref().map(Value::to_toml)),
            ("role", self.role.as_ref().map(Value::to_toml)),
            ("token", self.token.as_ref().map(Value::to_toml)),
            ("tools", Some(self.tools.to_toml())),
            ("approve", Some(self.approve.to_toml())),
            ("observe", Some(self.observe.to_toml())),
        ];
        let set: Vec<_> = pairs.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        reader.show_entry("[[auth.users]]", &set);
    }
}

/// A token that can be guessed. Random ones of 16 characters have at least 8 different ones.
fn weakness(user: &AuthUser) -> Option<&'static str> {
    let token = user.token.as_ref()?.expose_secret();
    let different = token.bytes().collect::<BTreeSet<_>>().len();
    let advice =
        "token is easy to guess: make a random one of at least 16 characters, as `openssl rand -hex 32` does";
    (token.len() < LEAST_LENGTH || different < LEAST_DIFFERENT).then_some(advice)
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

/// The user, if no earlier entry says otherwise: the owner of a token and the rights of a user must not depend on
/// order.
fn beside(earlier: &[AuthUser], user: AuthUser) -> Result<AuthUser, String> {
    let same_token = |other: &AuthUser| user.presents(other.token.as_ref().map(ExposeSecret::expose_secret));
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
