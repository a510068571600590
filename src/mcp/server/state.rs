//! What a client carries from one round of a call to the next: which confirmation it waits for, sealed so that it opens
//! for the same call of the same user only.
//!
//! It authorises nothing: the server binds a confirmation to its call and uses it once, whatever is sent here.

use std::{fmt, time::Duration};

use rmcp::{
    ErrorData,
    model::{RequestStateCodec, SealOptions},
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use toolwire_base::digest::Digest;
use toolwire_contract::json::canonical;
use toolwire_tool::context::RequestId;

use super::request::Invocation;

/// Minimum length of a key, in bytes.
pub const MIN_KEY_BYTES: usize = RequestStateCodec::MIN_KEY_LENGTH;

/// Seals and opens states. Cheap to clone: a few keys.
#[derive(Clone)]
pub struct StateCodec(RequestStateCodec);

/// The content of a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) confirmation_id: String,
    request_id: String,
    /// How many decisions on it were refused, such as without the tool's name.
    #[serde(default)]
    pub(super) refused: u32,
}

/// The call that a state belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Binding<'a> {
    pub(super) user: &'a str,
    pub(super) invocation: &'a Invocation,
    pub(super) definition_digest: &'a str,
}

impl Default for StateCodec {
    fn default() -> Self {
        Self::new(&[])
    }
}

impl StateCodec {
    /// A codec that seals by the first key and opens by all. Without keys, by a random one of this process.
    ///
    /// # Panics
    /// If a key is shorter than [`MIN_KEY_BYTES`], or if the system has no random bytes.
    pub fn new(keys: &[&[u8]]) -> Self {
        let mut random = [0; MIN_KEY_BYTES];
        getrandom::fill(&mut random).expect("the system has random bytes");
        let random = [random.as_slice()];
        let keys = if keys.is_empty() { &random } else { keys };
        // Named after their bytes, so that the name survives a change of their order.
        let name = |key: &[u8]| Digest::of_bytes(key).to_string()[..16].to_owned();
        let named = keys.iter().map(|key| (name(key), *key));
        Self(
            RequestStateCodec::new_with_keyring(name(keys[0]), named)
                .expect("keys are long enough and distinct"),
        )
    }

    pub(super) fn seal(&self, state: &State, binding: Binding<'_>, ttl: Duration) -> String {
        let (payload, associated) = (json!(state).to_string(), binding.bytes());
        self.0.seal_with(payload.as_bytes(), &SealOptions::new().associated_data(&associated).ttl(ttl))
    }

    /// Opens what a client sent back.
    pub(super) fn open(&self, sealed: &str, binding: Binding<'_>) -> Result<State, ErrorData> {
        self.0.open_json_with(sealed, &binding.bytes()).map_err(|error| {
            ErrorData::invalid_params(
                format!("requestState is not one of this call, or is one no longer: {error}. Call again without it"),
                None,
            )
        })
    }
}

impl State {
    pub(super) fn new(confirmation_id: &str, request_id: &str, refused: u32) -> Self {
        Self { confirmation_id: confirmation_id.to_owned(), request_id: request_id.to_owned(), refused }
    }

    pub(super) fn request_id(&self) -> Option<RequestId> {
        self.request_id.parse().ok()
    }
}

impl Binding<'_> {
    /// Unambiguous, whatever is in its parts.
    fn bytes(self) -> Vec<u8> {
        let Self { user, invocation, definition_digest } = self;
        let arguments = Digest::of_bytes(canonical(&invocation.arguments).as_bytes());
        json!([user, invocation.tool, definition_digest, arguments.to_string()]).to_string().into_bytes()
    }
}

impl fmt::Debug for StateCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateCodec")
    }
}
