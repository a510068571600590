//! Cool-down: a source that refused us is not asked for a while, also after a restart.
//!
//! Not here: where cool-downs are kept, which is a store's.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use super::{CredentialsOf, Subject, record};
use crate::upstream::{
    failure::{Failure, FailureKind},
    settings,
};
use toolwire_contract::ErrorCode;
use toolwire_state::cool_downs::{CoolDown, CoolDowns};
use toolwire_tool::context::UserId;

/// The cool-downs of a source, or of a part of one. Cloning it makes another handle of the same.
#[derive(Clone, Debug)]
pub(in crate::upstream) struct Scope {
    subject: Subject,
    store: Arc<dyn CoolDowns>,
    lengths: settings::CoolDown,
}

impl Scope {
    /// The cool-downs of a subject, which a store keeps.
    pub(in crate::upstream) fn new(
        subject: Subject,
        store: Arc<dyn CoolDowns>,
        lengths: settings::CoolDown,
    ) -> Self {
        Self { subject, store, lengths }
    }

    /// The refusal in force for this user, of the part or else of the source.
    pub(in crate::upstream) async fn in_force(&self, user: &UserId) -> Option<Failure> {
        let Subject { source, name, .. } = &self.subject;
        let refusal = self.refusal_of(name, user).await;
        if refusal.is_none() && name != source { self.refusal_of(source, user).await } else { refusal }
    }

    /// The refusal in force under a name. Fails open: an error of the store stops no request.
    async fn refusal_of(&self, source: &str, user: &UserId) -> Option<Failure> {
        let now = self.store.now();
        match self.store.in_force(source, user, now).await {
            Ok(cool_down) => Some(refusal(&cool_down?, now)),
            Err(error) => {
                tracing::warn!(source, %error, "cool-downs cannot be read, none is assumed");
                None
            }
        }
    }

    /// Begins a cool-down after a failure that asks for one, and adds its length to the failure: the caller whose
    /// request was refused gets it, as later ones do.
    pub(in crate::upstream) async fn note(&self, failure: Failure, user: &UserId) -> Failure {
        if !self.begins_after(&failure) {
            return failure;
        }
        let length = self.length(failure.kind);
        let Subject { credentials, title, .. } = &self.subject;
        let failure = credentials.reword(failure, title).with_retry_after(Some(length));
        self.begin(&failure, user.clone()).await;
        failure
    }

    fn length(&self, kind: FailureKind) -> Duration {
        if kind == FailureKind::Blocked { self.lengths.blocked } else { self.lengths.auth_failed }
    }

    /// Whether a cool-down begins after a failure. A failure that states a wait comes from a look below the limit, and
    /// another caller has begun the cool-down.
    fn begins_after(&self, failure: &Failure) -> bool {
        let is_login = self.subject.credentials == CredentialsOf::Login;
        let concerns_login = failure.kind == FailureKind::AuthFailed && is_login;
        failure.kind.begins_cool_down() && !concerns_login && failure.retry_after.is_none()
    }

    /// Begins a cool-down. It is stored by a task of its own, which completes even if the caller leaves.
    async fn begin(&self, failure: &Failure, user: UserId) {
        let (scope, length) = (self.clone(), self.length(failure.kind));
        let Subject { name, title, credentials, .. } = &self.subject;
        let concerns_user = failure.kind == FailureKind::AuthFailed && *credentials == CredentialsOf::User;
        let user = concerns_user.then_some(user);
        let code = failure.kind.code();
        record::cool_down_began(name, code, user.as_ref(), length);
        let cool_down = CoolDown { code, reason: failure.words(title), until: self.store.now() + length };
        let kept = tokio::spawn(async move {
            let source = &*scope.subject.name;
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
        .with_message(&cool_down.reason)
        .with_retry_after(Some(left))
}
