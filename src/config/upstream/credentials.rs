//! The credentials that sources want of the service itself: from the environment only, and never shown.
//!
//! Not here: users' own credentials, which are given with a call and never kept.

use secrecy::{ExposeSecret, SecretString};

use crate::config::{Environment, Problem, auth::HIDDEN};

const REDDIT_ID: &str = "TOOLWIRE_REDDIT_CLIENT_ID";
const REDDIT_SECRET: &str = "TOOLWIRE_REDDIT_CLIENT_SECRET";
const REDDIT_USER: &str = "TOOLWIRE_REDDIT_USER_NAME";

/// The variables that are read here.
pub(in crate::config) const VARIABLES: [&str; 3] = [REDDIT_ID, REDDIT_SECRET, REDDIT_USER];

/// Our credentials at the sources.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// Those at Reddit. Default none.
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
    /// What the environment says; all of an application or nothing.
    pub(in crate::config) fn from_environment(environment: &Environment) -> Result<Self, Vec<Problem>> {
        let [client_id, client_secret, user_name] = VARIABLES.map(|name| environment.get(name));
        let (Some(client_id), Some(client_secret), Some(user_name)) = (client_id, client_secret, user_name)
        else {
            let missing = VARIABLES.into_iter().filter(|name| environment.get(name).is_none());
            let what = "is not set, but another of the three is; Reddit needs all of them";
            let problems: Vec<_> =
                missing.map(|name| Problem::new(format!("variable {name}"), what)).collect();
            return if problems.len() == VARIABLES.len() { Ok(Self::default()) } else { Err(problems) };
        };
        let reddit = RedditCredentials {
            client_id: client_id.into(),
            client_secret: client_secret.into(),
            user_name: user_name.to_owned(),
        };
        reddit.check()?;
        Ok(Self { reddit: Some(reddit) })
    }

    /// The variables that hold something, each with what may be shown of it.
    pub(in crate::config) fn shown(&self) -> Vec<(&'static str, &str)> {
        let Some(reddit) = &self.reddit else { return Vec::new() };
        vec![(REDDIT_ID, HIDDEN), (REDDIT_SECRET, HIDDEN), (REDDIT_USER, &reddit.user_name)]
    }
}

impl RedditCredentials {
    fn check(&self) -> Result<(), Vec<Problem>> {
        let values = [self.client_id.expose_secret(), self.client_secret.expose_secret(), &self.user_name];
        let is_usable = |value: &str| value != HIDDEN && value.bytes().all(|byte| byte.is_ascii_graphic());
        let broken = VARIABLES.into_iter().zip(values).filter(|(_, value)| !is_usable(value));
        let what = "must be visible ASCII characters without spaces, and not what stands for a hidden one";
        let problems: Vec<_> =
            broken.map(|(name, _)| Problem::new(format!("variable {name}"), what)).collect();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<Credentials, Vec<Problem>> {
        Credentials::from_environment(&Environment::of(variables))
    }

    #[test]
    fn an_application_is_known_whole_or_not_at_all() {
        let all = [(REDDIT_ID, "id"), (REDDIT_SECRET, "s3cret"), (REDDIT_USER, "riley")];
        assert!(of(&[]).unwrap().reddit.is_none());
        assert_eq!(of(&all).unwrap().reddit.unwrap().client_secret.expose_secret(), "s3cret");
        let problems = of(&all[..2]).unwrap_err();
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].at, "variable TOOLWIRE_REDDIT_USER_NAME");
    }

    #[test]
    fn credentials_are_never_shown_even_when_they_are_wrong() {
        let all = [(REDDIT_ID, "the id"), (REDDIT_SECRET, "s3cret"), (REDDIT_USER, "riley")];
        assert!(!format!("{:?}", of(&all).unwrap_err()).contains("the id"));
        let fine = of(&[(REDDIT_ID, "the-id"), all[1], all[2]]).unwrap();
        assert!(!format!("{fine:?} {:?}", fine.shown()).contains("s3cret"));
        assert_eq!(fine.shown()[0], (REDDIT_ID, "[hidden]"));
    }
}
