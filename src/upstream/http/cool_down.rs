//! Cool-down: a source that refused us is left alone for a while, also after a restart (spec 004 §5.1).
//!
//! Not here: where cool-downs are kept, which is a store's.

#[cfg(test)]
mod tests;

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use tower::ServiceExt;

use super::{
    Answer, CredentialsOf, Failure, FailureKind, Profile,
    layer::{Around, Inner},
    record,
    request::Request,
};
use crate::{
    clock,
    context::UserId,
    contract::ErrorCode,
    store::cool_downs::{CoolDown, CoolDowns},
    upstream::settings,
};

/// Sends nothing while a cool-down is in force, and begins one when the source refuses us.
#[derive(Clone, Debug)]
pub(super) struct Check {
    profile: Profile,
    store: Arc<dyn CoolDowns>,
    lengths: settings::CoolDown,
}

impl Check {
    /// Cool-downs of a source, of the given lengths.
    pub(super) fn new(profile: Profile, store: Arc<dyn CoolDowns>, lengths: settings::CoolDown) -> Self {
        Self { profile, store, lengths }
    }

    /// Remembers that the source refused us. In a task of its own, since a caller that leaves must not undo it.
    async fn begin(&self, failure: &Failure, user: UserId) {
        let Self { profile, store, lengths } = self.clone();
        let length = if failure.kind == FailureKind::Blocked { lengths.blocked } else { lengths.auth_failed };
        let concerns_user =
            failure.kind == FailureKind::AuthFailed && profile.credentials == CredentialsOf::User;
        let user = concerns_user.then_some(user);
        let code = failure.kind.code();
        record::cool_down_began(profile.name, code, user.as_ref(), length);
        let reason = failure.words(profile.title);
        let cool_down = CoolDown { code, reason, until: clock::wall() + length };
        let kept = tokio::spawn(async move {
            if let Err(error) = store.begin(profile.name, user.as_ref(), &cool_down).await {
                tracing::warn!(source = profile.name, %error, "the cool-down cannot be kept");
            }
        });
        let _ = kept.await;
    }
}

/// Whether the source is left alone after a failure.
fn begins(kind: FailureKind, credentials: CredentialsOf) -> bool {
    kind.begins_cool_down() && !(kind == FailureKind::AuthFailed && credentials == CredentialsOf::Login)
}

/// Why nothing may be asked for this user now. A store that fails stops nobody.
async fn in_force(profile: &Profile, store: &dyn CoolDowns, user: &UserId) -> Option<Failure> {
    let now = clock::wall();
    match store.in_force(profile.name, user, now).await {
        Ok(cool_down) => Some(refusal(&cool_down?, now)),
        Err(error) => {
            tracing::warn!(source = profile.name, %error, "cool-downs cannot be read, none is assumed");
            None
        }
    }
}

/// What a cool-down says to those who ask meanwhile.
fn refusal(cool_down: &CoolDown, now: SystemTime) -> Failure {
    let kind = match cool_down.code {
        ErrorCode::AuthFailed => FailureKind::AuthFailed,
        _ => FailureKind::Blocked,
    };
    let left = cool_down.until.duration_since(now).unwrap_or(Duration::ZERO);
    Failure::new(kind, "nothing was asked: a cool-down is in force")
        .saying(&cool_down.reason)
        .with_retry_after(Some(left))
}

impl Around for Check {
    async fn call(self, request: Request, inner: impl Inner) -> Result<Answer, Failure> {
        let user = request.context.user.id.clone();
        if let Some(refusal) = in_force(&self.profile, &*self.store, &user).await {
            return Err(refusal);
        }
        let end = inner.oneshot(request).await;
        if let Err(failure) = &end
            && begins(failure.kind, self.profile.credentials)
        {
            self.begin(failure, user).await;
        }
        end
    }
}

/// Looks once more, below what may have waited for long.
#[derive(Clone, Debug)]
pub(super) struct Recheck {
    profile: Profile,
    store: Arc<dyn CoolDowns>,
}

impl Recheck {
    /// The cool-downs of a source.
    pub(super) fn new(profile: Profile, store: Arc<dyn CoolDowns>) -> Self {
        Self { profile, store }
    }
}

impl Around for Recheck {
    async fn call(self, request: Request, inner: impl Inner) -> Result<Answer, Failure> {
        match in_force(&self.profile, &*self.store, &request.context.user.id).await {
            Some(refusal) => Err(refusal),
            None => inner.oneshot(request).await,
        }
    }
}
