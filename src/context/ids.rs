//! Identifiers that are checked once, where they enter.

use std::{fmt, str::FromStr};

use uuid::Uuid;

/// The longest user id.
const MAX_USER_ID: usize = 128;
/// The longest id of a task or a session, in characters.
const MAX_ID: usize = 128;

/// One call: a UUID made by the server, in order of time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(Uuid);

/// A UUID made by the caller, so that a repeat is recognised.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestId(Uuid);

/// A user: 1 to 128 visible ASCII characters.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UserId(String);

/// A task on whose behalf a tool is called: 1 to 128 characters, as its owner chose them.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId(String);

/// A session, by which a user's results and credentials are kept apart: 1 to 128 characters, as the caller chose them.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(String);

/// A text is no such identifier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} must be {form}, but is {found:?}")]
pub struct InvalidId {
    what: &'static str,
    form: &'static str,
    found: String,
}

impl CallId {
    /// A new one.
    pub fn generate() -> Self {
        Self(Uuid::now_v7())
    }
}

impl RequestId {
    /// A new one.
    pub fn generate() -> Self {
        Self(Uuid::new_v4())
    }

    /// The one that a digest makes: a UUID of version 8.
    pub(super) fn derived(digest: &[u8; 32]) -> Self {
        let bytes = std::array::from_fn(|index| digest[index]);
        Self(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }

    /// Its 16 bytes.
    pub fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl From<CallId> for RequestId {
    /// Stands for a call that has none.
    fn from(call_id: CallId) -> Self {
        Self(call_id.0)
    }
}

impl UserId {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TaskId {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SessionId {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for CallId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        uuid("call_id", text).map(Self)
    }
}

impl FromStr for RequestId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        uuid("request_id", text).map(Self)
    }
}

impl FromStr for UserId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let form = "1 to 128 visible ASCII characters";
        if text.is_empty() || text.len() > MAX_USER_ID || !text.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(invalid("user id", form, text));
        }
        Ok(Self(text.to_owned()))
    }
}

impl FromStr for TaskId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        bounded("task id", text).map(Self)
    }
}

impl FromStr for SessionId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        bounded("session id", text).map(Self)
    }
}

fn bounded(what: &'static str, text: &str) -> Result<String, InvalidId> {
    match text.chars().count() {
        1..=MAX_ID => Ok(text.to_owned()),
        _ => Err(invalid(what, "1 to 128 characters", text)),
    }
}

fn uuid(what: &'static str, text: &str) -> Result<Uuid, InvalidId> {
    let form = "a UUID such as 0196f1c2-7a4b-7c3d-8e5f-0123456789ab";
    Uuid::try_parse(text).map_err(|_| invalid(what, form, text))
}

fn invalid(what: &'static str, form: &'static str, text: &str) -> InvalidId {
    InvalidId { what, form, found: text.chars().take(64).collect() }
}

macro_rules! shown_as_text {
    ($($id:ty),*) => {$(
        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
        impl fmt::Debug for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}
shown_as_text!(CallId, RequestId, SessionId, TaskId, UserId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_id_is_visible_ascii_of_bounded_length() {
        assert!("riley@example.com".parse::<UserId>().is_ok());
        for bad in ["", "a b", "naïve", "\u{7f}", &"x".repeat(129)] {
            assert!(bad.parse::<UserId>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_ids_of_tasks_and_sessions_have_at_most_128_characters() {
        for good in ["t", &"ä".repeat(128)] {
            assert!(good.parse::<TaskId>().is_ok() && good.parse::<SessionId>().is_ok(), "{good:?}");
        }
        for bad in ["", &"x".repeat(129)] {
            assert!(bad.parse::<TaskId>().is_err() && bad.parse::<SessionId>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_bad_request_id_says_what_was_expected() {
        let error = "42".parse::<RequestId>().unwrap_err();
        assert!(error.to_string().starts_with("request_id must be a UUID"), "{error}");
    }
}
