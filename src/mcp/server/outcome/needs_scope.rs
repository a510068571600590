//! The refusal of a call whose token has too little scope. Over HTTP it is a challenge, by which clients sign in for
//! more and call again; elsewhere it is a failure as others are.

use http::HeaderValue;
use rmcp::{ErrorData, model::CallToolResult};
use serde_json::json;
use tonic::Status;
use tonic_types::StatusExt;

use super::{Answer, CallFacts, of_status};
use toolwire_contract::status::{DOMAIN, INSUFFICIENT_SCOPE, scope_challenge};

#[derive(Clone, Debug)]
pub(in crate::server) struct NeedsScope {
    /// The scopes to request, separated by spaces.
    scope: String,
    message: String,
    failure: CallToolResult,
}

/// The answer for a request that the server refuses.
pub(in crate::server) fn of_refusal(status: &Status, facts: &CallFacts) -> Result<Answer, ErrorData> {
    let failure = of_status(status, facts)?;
    Ok(match scope_of(status) {
        Some(scope) => {
            let message = status.message().to_owned();
            Answer::NeedsScope(Box::new(NeedsScope { scope, message, failure }))
        }
        None => failure.into(),
    })
}

/// The scopes that a refusal says are needed.
fn scope_of(status: &Status) -> Option<String> {
    let info = status.get_details_error_info()?;
    let is_meant = info.domain == DOMAIN && info.reason == INSUFFICIENT_SCOPE;
    info.metadata.get("scope").filter(|_| is_meant).cloned()
}

impl NeedsScope {
    /// The error of JSON-RPC that a challenge has as its body.
    pub(in crate::server) fn error(&self) -> ErrorData {
        let data = json!({"code": INSUFFICIENT_SCOPE, "scope": self.scope});
        ErrorData::invalid_request(self.message.clone(), Some(data))
    }

    /// The value of `WWW-Authenticate`.
    pub(in crate::server) fn challenge(&self) -> Option<HeaderValue> {
        scope_challenge(&self.scope).try_into().ok()
    }
}

impl From<NeedsScope> for CallToolResult {
    fn from(refused: NeedsScope) -> Self {
        refused.failure
    }
}
