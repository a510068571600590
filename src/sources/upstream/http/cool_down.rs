//! Cool-down: a source that refused us is not asked for a while, also after a restart (spec 004 §5.1).
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
    CredentialsOf, Failure, FailureKind, Part, Profile,
    layer::{End, Inner},
    record,
    request::Request,
};
use crate::upstream::settings;
use toolwire_base::{clock, middleware::Middleware};
use toolwire_contract::ErrorCode;
use toolwire_store::cool_downs::{CoolDown, CoolDowns};
use toolwire_tool::context::UserId;

/// The cool-downs of a source, or of a part of one. Cloning it makes another handle of the same.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    profile: Profile,
    part: Option<Part>,
    store: Arc<dyn CoolDowns>,
}

impl Scope {
    /// Those that a store keeps.
    pub(super) fn new(profile: Profile, part: Option<Part>, store: Arc<dyn CoolDowns>) -> Self {
        Self { profile, part, store }
    }

    /// The name under which a refusal is stored.
    fn name(&self) -> &'static str {
        self.part.map_or(self.profile.name, |part| part.name)
    }

    /// The refusal in force for this user, of the part or else of the source.
    async fn in_force(&self, user: &UserId) -> Option<Failure> {
        let refusal = self.refusal_of(self.name(), user).await;
        match self.part {
            Some(_) if refusal.is_none() => self.refusal_of(self.profile.name, user).await,
            _ => refusal,
        }
    }

    /// The refusal in force under a name. Fails open: an error of the store stops no request.
    async fn refusal_of(&self, source: &'static str, user: &UserId) -> Option<Failure> {
        let now = clock::wall();
        match self.store.in_force(source, user, now).await {
            Ok(cool_down) => Some(refusal(&cool_down?, now)),
            Err(error) => {
                tracing::warn!(source, %error, "cool-downs cannot be read, none is assumed");
                None
            }
        }
    }
}

/// Sends nothing while a cool-down is in force, and begins one when the source refuses us.
#[derive(Clone, Debug)]
pub(super) struct Check {
    scope: Scope,
    lengths: settings::CoolDown,
}

impl Check {
    pub(super) fn new(scope: Scope, lengths: settings::CoolDown) -> Self {
        Self { scope, lengths }
    }

    fn length(&self, kind: FailureKind) -> Duration {
        if kind == FailureKind::Blocked { self.lengths.blocked } else { self.lengths.auth_failed }
    }

    /// Whether a cool-down begins after a failure. A failure that states a wait comes from the recheck below, and
    /// another caller has begun the cool-down.
    fn begins_after(&self, failure: &Failure) -> bool {
        let is_login = self.scope.profile.credentials == CredentialsOf::Login;
        let concerns_login = failure.kind == FailureKind::AuthFailed && is_login;
        failure.kind.begins_cool_down() && !concerns_login && failure.retry_after.is_none()
    }

    /// Begins a cool-down. It is stored by a task of its own, which completes even if the caller leaves.
    async fn begin(&self, failure: &Failure, user: UserId) {
        let (scope, length) = (self.scope.clone(), self.length(failure.kind));
        let (source, profile) = (scope.name(), scope.profile);
        let concerns_user =
            failure.kind == FailureKind::AuthFailed && profile.credentials == CredentialsOf::User;
        let user = concerns_user.then_some(user);
        let code = failure.kind.code();
        record::cool_down_began(source, code, user.as_ref(), length);
        let reason = failure.words(profile.title);
        let cool_down = CoolDown { code, reason, until: clock::wall() + length };
        let kept = tokio::spawn(async move {
            if let Err(error) = scope.store.begin(source, user.as_ref(), &cool_down).await {
                tracing::warn!(source, %error, "the cool-down cannot be kept");
            }
        });
        let _ = kept.await;
    }
}

/// The failure of a request during a cool-down.
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

impl<S: Inner> Middleware<Request, S> for Check {
    type Future = End;

    fn call(&self, request: Request, inner: &mut S) -> End {
        let (layer, inner) = (self.clone(), inner.clone());
        Box::pin(async move {
            let user = request.context.user.id.clone();
            if let Some(refusal) = layer.scope.in_force(&user).await {
                return Err(refusal);
            }
            match inner.oneshot(request).await {
                // The caller whose request was refused gets the length of the cool-down, as later ones do.
                Err(failure) if layer.begins_after(&failure) => {
                    let length = layer.length(failure.kind);
                    let failure = layer.scope.profile.reword(failure).with_retry_after(Some(length));
                    layer.begin(&failure, user).await;
                    Err(failure)
                }
                end => end,
            }
        })
    }
}

/// Checks again below the layers that may wait for long.
#[derive(Clone, Debug)]
pub(super) struct Recheck {
    scope: Scope,
}

impl Recheck {
    /// The cool-downs of a source.
    pub(super) fn new(scope: Scope) -> Self {
        Self { scope }
    }
}

impl<S: Inner> Middleware<Request, S> for Recheck {
    type Future = End;

    fn call(&self, request: Request, inner: &mut S) -> End {
        let (layer, inner) = (self.clone(), inner.clone());
        Box::pin(async move {
            match layer.scope.in_force(&request.context.user.id).await {
                Some(refusal) => Err(refusal),
                None => inner.oneshot(request).await,
            }
        })
    }
}
