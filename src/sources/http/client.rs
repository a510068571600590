//! The client of one source: what its connector asks through.

use std::{sync::Arc, time::Duration};

use super::{Answer, Failure, Outgoing, Sender, send::Bounds};
use crate::{context::ToolContext, sources::limiter::Limiter, store::cool_downs::CoolDowns};

/// What the stack must know of a source.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// Its name in manifests, limits, metrics and configuration, such as `valuepickr`.
    pub name: &'static str,
    /// Its name for people, such as `ValuePickr`.
    pub title: &'static str,
    /// The bound on one attempt.
    pub timeout: Duration,
    /// The bound on one body, in bytes.
    pub max_body: usize,
    /// Whether failures may be retried at all.
    pub may_retry: bool,
    /// Whom a refusal of credentials concerns.
    pub credentials: CredentialsOf,
    /// What only this source's answers say, looked at before the common rules. `None` leaves it to those.
    pub judge: fn(&Answer) -> Option<Failure>,
}

/// Whose credentials a source sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialsOf {
    /// The service's own, or none: a refusal concerns all users.
    Service,
    /// The user's: a refusal concerns that user.
    User,
}

/// The client of one source. Cloning it makes another handle of the same.
#[derive(Clone, Debug)]
pub struct Client {
    profile: Profile,
    sender: Sender,
    limiter: Arc<dyn Limiter>,
    cool_downs: Arc<dyn CoolDowns>,
}

impl Client {
    /// The client of a source.
    pub fn new(
        profile: Profile,
        sender: Sender,
        limiter: Arc<dyn Limiter>,
        cool_downs: Arc<dyn CoolDowns>,
    ) -> Self {
        Self { profile, sender, limiter, cool_downs }
    }

    /// The source.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Sends a request through the stack, on behalf of a call.
    pub async fn send(&self, outgoing: Outgoing, context: &ToolContext) -> Result<Answer, Failure> {
        let Profile { timeout, max_body, judge, .. } = self.profile;
        let bounds = Bounds { timeout, max_body, judge };
        let sent = self.sender.send(&outgoing, bounds, context).await;
        sent.map_err(|failure| Failure { source_title: self.profile.title, ..failure })
    }
}
