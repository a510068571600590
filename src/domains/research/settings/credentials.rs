//! The credentials that sources want of the service itself: from the environment only, and never shown.
//!
//! Not here: users' own credentials, which are given with a call and never kept.

use secrecy::{ExposeSecret, SecretString};

use toolwire_config::{HIDDEN, Reader, Value};

pub(super) const REDDIT_ID: &str = "TOOLWIRE_REDDIT_CLIENT_ID";
const REDDIT_SECRET: &str = "TOOLWIRE_REDDIT_CLIENT_SECRET";
const REDDIT_USER: &str = "TOOLWIRE_REDDIT_USER_NAME";

const VARIABLES: [&str; 3] = [REDDIT_ID, REDDIT_SECRET, REDDIT_USER];

/// Our credentials at the sources.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// The credentials at Reddit. Default none.
    pub reddit: Option<RedditCredentials>,
}

/// An application registered at Reddit.
#[derive(Clone, Debug)]
pub struct RedditCredentials {
    /// Its id. `TOOLWIRE_REDDIT_CLIENT_ID`.
    pub client_id: SecretString,
    /// Its secret. `TOOLWIRE_REDDIT_CLIENT_SECRET`.
    pub client_secret: SecretString,
    /// The Reddit user who answers for it, for the User-Agent. `TOOLWIRE_REDDIT_USER_NAME`.
    pub user_name: String,
}

impl Credentials {
    /// Reads the credentials of the environment: all of an application, or none.
    pub(super) fn read(reader: &mut Reader) -> Self {
        let values = VARIABLES.map(|name| reader.variable(name));
        let missing: Vec<_> = VARIABLES.into_iter().zip(&values).filter(|(_, it)| it.is_none()).collect();
        if missing.len() < VARIABLES.len() {
            let what = "is not set, but another of the three is; Reddit needs all of them";
            for (name, _) in &missing {
                reader.problem_of_variable(name, what);
            }
        }
        let [Some(client_id), Some(client_secret), Some(user_name)] = values else { return Self::default() };
        let reddit =
            RedditCredentials { client_id: client_id.into(), client_secret: client_secret.into(), user_name };
        reddit.check(reader);
        reader.note(reddit.describe());
        Self { reddit: Some(reddit) }
    }
}

impl RedditCredentials {
    fn check(&self, reader: &mut Reader) {
        let values = [self.client_id.expose_secret(), self.client_secret.expose_secret(), &self.user_name];
        let is_usable = |value: &str| value != HIDDEN && value.bytes().all(|byte| byte.is_ascii_graphic());
        let what = "must be visible ASCII characters without spaces, and not what stands for a hidden one";
        for (name, _) in VARIABLES.into_iter().zip(values).filter(|(_, value)| !is_usable(value)) {
            reader.problem_of_variable(name, what);
        }
    }

    /// The variables, with what may be shown of each.
    fn describe(&self) -> String {
        let values = [self.client_id.to_toml(), self.client_secret.to_toml(), self.user_name.to_toml()];
        let lines = VARIABLES.into_iter().zip(values).map(|(name, value)| format!("{name} = {value}"));
        lines.collect::<Vec<_>>().join("\n")
    }
}
