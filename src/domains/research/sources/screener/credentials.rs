//! The users' own credentials: per user and session, in memory only, never stored.
//!
//! Bounded: at the limit a user loses the oldest of their own first.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use data_encoding::HEXLOWER;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use toolwire_tool::context::{SessionId, UserId};

/// Maximum number of sessions of one user with credentials.
const MAX_OF_USER: usize = 16;
/// Maximum number held in all.
const MAX: usize = 4096;

/// The length of a mark in bytes.
const MARK: usize = 2;

/// A user name and a password. Shown without either.
#[derive(Clone, Debug)]
pub struct Login {
    pub(super) username: SecretString,
    pub(super) password: SecretString,
}

/// Holds credentials until they are forgotten.
#[derive(Default)]
pub struct Credentials(Mutex<CredentialStore>);

#[derive(Default)]
struct CredentialStore {
    logins: BTreeMap<Key, Entry>,
    given: u64,
}

/// The owner: another user's call never finds them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    user: UserId,
    session: Option<SessionId>,
}

struct Entry {
    login: Login,
    /// Orders entries by when they were given.
    given: u64,
}

impl Login {
    /// The given user name and password.
    pub fn new(username: impl Into<SecretString>, password: impl Into<SecretString>) -> Self {
        Self { username: username.into(), password: password.into() }
    }

    /// Tells this login from another one of the user's. So few bits of a digest that they can be stored: a password
    /// found by them is one of very many.
    pub(super) fn mark(&self, user: &UserId) -> String {
        let mut digest = Sha256::new();
        for part in [user.as_str(), self.username.expose_secret(), self.password.expose_secret()] {
            digest.update(part.len().to_le_bytes());
            digest.update(part);
        }
        HEXLOWER.encode(&digest.finalize()[..MARK])
    }

    /// What the embedded origin lets in.
    pub(super) fn demo() -> Self {
        Self::new("demo", "demo")
    }
}

impl Credentials {
    /// Keeps the credentials of a user's session, or of the user's calls without one. Earlier ones are replaced.
    pub fn set(&self, user: &UserId, session: Option<&SessionId>, login: Login) {
        let mut held = self.lock();
        held.given += 1;
        let entry = Entry { login, given: held.given };
        held.logins.insert(Key::new(user, session), entry);
        if held.logins.keys().filter(|key| key.user == *user).count() > MAX_OF_USER {
            held.drop_oldest(|key| key.user == *user);
        }
        if held.logins.len() > MAX {
            held.drop_oldest(|_| true);
        }
    }

    /// Forgets them. Whether there were any.
    pub fn forget(&self, user: &UserId, session: Option<&SessionId>) -> bool {
        self.lock().logins.remove(&Key::new(user, session)).is_some()
    }

    /// Those that hold for calls of a user's session, or without one.
    pub(super) fn of(&self, user: &UserId, session: Option<&SessionId>) -> Option<Login> {
        self.lock().logins.get(&Key::new(user, session)).map(|entry| entry.login.clone())
    }

    fn lock(&self) -> MutexGuard<'_, CredentialStore> {
        // A holder that panicked left a complete map.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CredentialStore {
    fn drop_oldest(&mut self, which: impl Fn(&Key) -> bool) {
        let candidates = self.logins.iter().filter(|(key, _)| which(key));
        let oldest = candidates.min_by_key(|(_, entry)| entry.given).map(|(key, _)| key.clone());
        if let Some(key) = oldest {
            self.logins.remove(&key);
        }
    }
}

impl Key {
    fn new(user: &UserId, session: Option<&SessionId>) -> Self {
        Self { user: user.clone(), session: session.cloned() }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials({})", self.lock().logins.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session_id(text: &str) -> SessionId {
        text.parse().unwrap()
    }

    fn set(credentials: &Credentials, user: &str, session: Option<&str>, password: &str) {
        let session = session.map(session_id);
        credentials.set(&user.parse().unwrap(), session.as_ref(), Login::new("name", password));
    }

    fn found(credentials: &Credentials, user: &str, session: Option<&str>) -> Option<String> {
        let session = session.map(session_id);
        let login = credentials.of(&user.parse().unwrap(), session.as_ref())?;
        Some(login.password.expose_secret().to_owned())
    }

    #[tokio::test]
    async fn the_last_ones_given_hold_until_they_are_forgotten() {
        let credentials = Credentials::default();
        set(&credentials, "demo", None, "old");
        set(&credentials, "demo", None, "new");
        assert_eq!(found(&credentials, "demo", None).as_deref(), Some("new"));
        let user = "demo".parse().unwrap();
        assert!(credentials.forget(&user, None));
        assert!(!credentials.forget(&user, None));
        assert_eq!(found(&credentials, "demo", None), None);
    }

    #[tokio::test]
    async fn one_user_with_many_sessions_pushes_nobody_else_out() {
        let credentials = Credentials::default();
        set(&credentials, "riley", None, "riley's");
        for session in 0..=MAX_OF_USER {
            set(&credentials, "demo", Some(&session.to_string()), "x");
        }
        assert_eq!(found(&credentials, "demo", Some("0")), None);
        assert!(found(&credentials, "demo", Some("1")).is_some());
        assert!(found(&credentials, "riley", None).is_some());
    }

    #[tokio::test]
    async fn the_whole_is_bounded() {
        let credentials = Credentials::default();
        for user in 0..=MAX {
            set(&credentials, &format!("user-{user}"), None, "x");
        }
        assert_eq!(found(&credentials, "user-0", None), None);
        assert!(found(&credentials, "user-1", None).is_some());
    }

    #[test]
    fn a_mark_tells_logins_apart_and_is_the_same_for_the_same() {
        let user: UserId = "riley".parse().unwrap();
        let mark = |name: &str, word: &str| Login::new(name, word).mark(&user);
        assert_eq!(mark("a", "b").len(), 2 * MARK);
        assert_eq!(mark("a", "b"), mark("a", "b"));
        assert_ne!(mark("a", "b"), mark("a", "c"));
        assert_ne!(mark("a", "b"), Login::new("a", "b").mark(&"demo".parse().unwrap()));
    }

    #[test]
    fn neither_name_nor_password_is_ever_shown() {
        let credentials = Credentials::default();
        let login = Login::new("riley@example.com", "s3cret");
        credentials.set(&"riley".parse().unwrap(), None, login.clone());
        let shown = format!("{login:?} {login:#?} {credentials:?}");
        assert!(!shown.contains("s3cret") && !shown.contains("example.com"), "{shown}");
    }
}
