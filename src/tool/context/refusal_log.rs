//! What was refused of a request before anything was done: its user, its target, and the reason.

use super::{Origin, User};

/// A request or a call that was refused, for counts and for the audit.
#[derive(Clone, Copy, Debug)]
pub struct RefusedRequest<'a> {
    /// The reason, one of few words.
    pub reason: &'static str,
    /// The user, if the request proved one.
    pub user: Option<&'a User>,
    /// Where it came from.
    pub origin: Origin,
    /// The method, or the tool.
    pub target: &'a str,
}

impl RefusedRequest<'_> {
    /// The user may not call or see the tool.
    pub const TOOL_NOT_ALLOWED: &'static str = "tool_not_allowed";
    /// The user may not call the tool by this token, but by one of more scope.
    pub const INSUFFICIENT_SCOPE: &'static str = "insufficient_scope";
    /// The user may not decide on calls of the tool.
    pub const MAY_NOT_DECIDE: &'static str = "may_not_decide";
}

/// Takes note of what is refused. It must not wait.
pub trait RefusalLog: Send + Sync {
    /// Takes note of a refusal.
    fn note(&self, refused: &RefusedRequest<'_>);
}

/// Takes none.
impl RefusalLog for () {
    fn note(&self, _refused: &RefusedRequest<'_>) {}
}
