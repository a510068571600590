//! Identifiers, validated once where they enter.

use std::{fmt, str::FromStr, sync::Arc};

use uuid::Uuid;

use toolwire_base::digest::Digest;

/// The longest id of a user, a task or a session, in characters.
const MAX_LENGTH: usize = 128;

/// Separates this hash from every other of the service: no other input begins with it.
const PART_DOMAIN: &[u8] = b"toolwire part 1";

/// The prefix of every task id.
const TASK_PREFIX: &str = "task_";

/// One call: a UUID made by the server, in order of time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(Uuid);

/// The key of idempotency: a UUID made by the caller, by which a repeat is recognised.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestId(Uuid);

/// A user: visible ASCII characters of bounded length.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UserId(Arc<str>);

/// A task of a tree that is kept here: `task_` and 32 hexadecimal digits, made by the server. Knowing it grants nothing
/// by itself.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId(Arc<str>);

/// What a caller says the task is on whose behalf a tool is called: a text of bounded length. It may be the name of a
/// task that is kept here, or one that only the caller knows.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskLabel(Arc<str>);

/// A session, by which a user's results and credentials are kept apart: a text of bounded length, as the caller chose
/// it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(Arc<str>);

/// A text is not a valid identifier. The message continues the name of the field, which only the caller knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be {form}, but is {found:?}")]
pub struct InvalidId {
    form: String,
    found: String,
}

impl UserId {
    /// The id as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, shared.
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl CallId {
    /// Makes an id that sorts after those made before.
    pub fn generate() -> Self {
        Self(Uuid::now_v7())
    }

    /// Its 16 bytes, in order of time.
    pub fn as_bytes(&self) -> [u8; 16] {
        *self.0.as_bytes()
    }

    /// The id of 16 bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }
}

impl RequestId {
    /// Makes a random id.
    pub fn generate() -> Self {
        Self(Uuid::new_v4())
    }

    /// The id of 16 bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }

    /// Derives the id of a part, such as a call of a turn: the same for the same number.
    #[must_use]
    pub fn part(&self, number: u32) -> Self {
        let digest =
            Digest::of_parts([PART_DOMAIN, self.as_bytes().as_slice(), number.to_le_bytes().as_slice()]);
        Self::from_digest(digest.as_bytes())
    }

    /// The one that a digest makes: a UUID of version 8.
    pub(super) fn from_digest(digest: &[u8; 32]) -> Self {
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

impl TaskId {
    /// A new one. It cannot be guessed.
    pub fn generate() -> Self {
        Self(format!("{TASK_PREFIX}{}", Uuid::new_v4().simple()).into())
    }

    /// The one that a digest makes: the same each time.
    pub fn of(digest: &Digest) -> Self {
        Self(format!("{TASK_PREFIX}{}", &digest.to_string()[..32]).into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn is_valid(text: &str) -> bool {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        text.strip_prefix(TASK_PREFIX)
            .is_some_and(|digits| digits.len() == 32 && digits.bytes().all(is_digit))
    }
}

impl TaskLabel {
    /// The text as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// For logs, where a label that names no task of this server does not appear: it is a caller's own text.
    pub fn digest(&self) -> Digest {
        Digest::of_bytes(self.0.as_bytes())
    }

    /// The task that it names, if it has the form of one that is kept here. Any other label is only passed on.
    pub fn task(&self) -> Option<TaskId> {
        TaskId::is_valid(&self.0).then(|| TaskId(Arc::clone(&self.0)))
    }
}

impl From<TaskId> for TaskLabel {
    fn from(id: TaskId) -> Self {
        Self(id.0)
    }
}

impl SessionId {
    /// The id as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// For logs, where the id itself does not appear: it is a caller's own text.
    pub fn digest(&self) -> Digest {
        Digest::of_bytes(self.0.as_bytes())
    }
}

impl FromStr for CallId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        uuid(text).map(Self)
    }
}

impl FromStr for RequestId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        uuid(text).map(Self)
    }
}

impl FromStr for UserId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        if text.bytes().all(|byte| byte.is_ascii_graphic()) && (1..=MAX_LENGTH).contains(&text.len()) {
            return Ok(Self(text.into()));
        }
        Err(invalid(format!("1 to {MAX_LENGTH} visible ASCII characters"), text))
    }
}

impl FromStr for TaskId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        if Self::is_valid(text) {
            return Ok(Self(text.into()));
        }
        Err(invalid(format!("{TASK_PREFIX} and 32 hexadecimal digits"), text))
    }
}

impl FromStr for TaskLabel {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        // A misspelt task id is refused: taken for a label of the caller's own, the call would silently not count as
        // one of the task.
        let meant = text.trim().to_ascii_lowercase();
        if TaskId::is_valid(&meant) && meant != text {
            return Err(invalid(format!("{meant}, if that task is meant"), text));
        }
        check_length(text).map(|text| Self(text.into()))
    }
}

impl FromStr for SessionId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        check_length(text).map(|text| Self(text.into()))
    }
}

fn check_length(text: &str) -> Result<&str, InvalidId> {
    match text.chars().count() {
        1..=MAX_LENGTH => Ok(text),
        _ => Err(invalid(format!("1 to {MAX_LENGTH} characters"), text)),
    }
}

fn uuid(text: &str) -> Result<Uuid, InvalidId> {
    let form = "a UUID such as 0196f1c2-7a4b-7c3d-8e5f-0123456789ab";
    Uuid::try_parse(text).map_err(|_| invalid(form.to_owned(), text))
}

fn invalid(form: String, text: &str) -> InvalidId {
    InvalidId { form, found: text.chars().take(64).collect() }
}

macro_rules! display_as_text {
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
display_as_text!(CallId, RequestId, SessionId, TaskId, TaskLabel, UserId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nearly_names_a_task_is_no_label() {
        let digits = "0123456789abcdef0123456789abcdef";
        assert!(format!("task_{digits}").parse::<TaskLabel>().unwrap().task().is_some());
        for label in ["tasks of riley", "task_7", "TASK_7"] {
            assert!(label.parse::<TaskLabel>().unwrap().task().is_none());
        }
        for bad in
            [format!("TASK_{digits}"), format!("task_{digits} "), format!("task_{}", digits.to_uppercase())]
        {
            assert!(bad.parse::<TaskLabel>().is_err(), "{bad:?}");
        }
    }

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
            assert!(good.parse::<TaskLabel>().is_ok() && good.parse::<SessionId>().is_ok(), "{good:?}");
        }
        for bad in ["", &"x".repeat(129)] {
            assert!(bad.parse::<TaskLabel>().is_err() && bad.parse::<SessionId>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_task_is_named_by_what_the_server_made_and_any_other_label_names_none() {
        let id = TaskId::generate();
        assert_eq!(id.to_string().parse(), Ok(id.clone()));
        assert_eq!(TaskLabel::from(id.clone()).task(), Some(id.clone()));
        for other in ["t-1", "task_", "task_5", &id.as_str()[5..], &id.as_str()[..36]] {
            assert!(other.parse::<TaskId>().is_err(), "{other}");
            assert_eq!(other.parse::<TaskLabel>().unwrap().task(), None, "{other}");
        }
    }

    #[test]
    fn a_bad_request_id_says_what_was_expected() {
        let error = "42".parse::<RequestId>().unwrap_err();
        assert!(error.to_string().starts_with("must be a UUID"), "{error}");
    }
}
