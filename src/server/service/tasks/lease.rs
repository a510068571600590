//! Leases: which worker holds a task, and until when.

use std::time::Duration;

use tokio::select;
use tokio_util::sync::CancellationToken;

use super::{Tasks, create::role, parse_id, why};
use crate::service::{changes::wait_for_change, request::refuse};
use toolwire_base::clock;
use toolwire_contract::Refusal;
use toolwire_state::tasks::{self as store, LeaseRequest, Leased};
use toolwire_tool::context::{TaskId, User};

/// The duration of a lease: the default, and the bounds.
const DEFAULT_DURATION: Duration = Duration::from_secs(30);
const MIN_DURATION: Duration = Duration::from_secs(5);
const MAX_DURATION: Duration = Duration::from_mins(5);

/// Maximum wait for a task in one request.
const MAX_WAIT: Duration = Duration::from_mins(1);

/// Maximum length of the name of a worker, in characters.
const MAX_HOLDER_LENGTH: usize = 128;

/// Maximum number of roles of one request.
const MAX_ROLES: usize = 32;

/// A worker's wish for a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseWish {
    pub wanted: LeaseTarget,
    /// The worker, for people.
    pub holder: String,
    pub duration: Option<Duration>,
    /// The lease to renew. 0: a new one.
    pub token: u64,
    /// The wait for a task of these roles.
    pub wait: Duration,
}

/// The task to lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseTarget {
    Task(String),
    /// The oldest task of any of these roles.
    AnyOf(Vec<String>),
}

impl Tasks {
    /// Acquires or renews a lease. `None` if there is no task of these roles within the wait, which ends early when
    /// `ends` is cancelled.
    pub async fn lease(
        &self,
        user: &User,
        wish: LeaseWish,
        ends: &CancellationToken,
    ) -> Result<Option<Leased>, Refusal> {
        let (wait, request) = (wish.wait, check(wish)?);
        if wait > MAX_WAIT {
            return Err(refuse("wait", "maximum", &format!("must be at most {} s", MAX_WAIT.as_secs())));
        }
        let until = clock::now() + wait;
        let unnamed = TaskId::generate();
        let id = match &request.target {
            store::LeaseTarget::Task(id, _) => id,
            store::LeaseTarget::AnyOf(_) => &unnamed,
        };
        let mut changed = None;
        loop {
            let leased = self.0.store.lease_task(&user.id, &request).await.map_err(why(id))?;
            if leased.is_some() || clock::now() >= until || ends.is_cancelled() {
                return Ok(leased);
            }
            // Listening from before the look that finds nothing, so that nothing is missed.
            match &mut changed {
                None => changed = Some(self.subscribe().await?),
                Some(changed) => {
                    select! {
                        () = wait_for_change(changed, until) => {}
                        () = ends.cancelled() => {}
                    }
                    changed.mark_unchanged();
                }
            }
        }
    }

    /// Gives a lease back. One that was lost already is fine.
    pub async fn release(&self, user: &User, id: &str, token: u64) -> Result<(), Refusal> {
        let id = parse_id(id)?;
        self.0.store.release_task(&user.id, &id, token).await.map_err(why(&id))
    }
}

fn check(wish: LeaseWish) -> Result<LeaseRequest, Refusal> {
    let LeaseWish { wanted, holder, duration, token, wait: _ } = wish;
    let target = match wanted {
        LeaseTarget::Task(id) => store::LeaseTarget::Task(parse_id(&id)?, (token != 0).then_some(token)),
        LeaseTarget::AnyOf(_) if token != 0 => {
            return Err(refuse("token", "const", "must be 0 with any_of: a lease is renewed by its task"));
        }
        LeaseTarget::AnyOf(roles) => {
            if roles.is_empty() || roles.len() > MAX_ROLES {
                let what = format!("must have 1 to {MAX_ROLES} elements");
                return Err(refuse("any_of.roles", "max_items", &what));
            }
            for name in &roles {
                role("any_of.roles", name)?;
            }
            store::LeaseTarget::AnyOf(roles)
        }
    };
    let length = holder.chars().count();
    if holder.trim().is_empty() || length > MAX_HOLDER_LENGTH {
        let what = format!("must name the worker, in 1 to {MAX_HOLDER_LENGTH} characters");
        return Err(refuse("holder", "required", &what));
    }
    let duration = duration.unwrap_or(DEFAULT_DURATION);
    if !(MIN_DURATION..=MAX_DURATION).contains(&duration) {
        let what = format!("must be from {} s to {} s", MIN_DURATION.as_secs(), MAX_DURATION.as_secs());
        return Err(refuse("duration", "range", &what));
    }
    Ok(LeaseRequest { target, holder, duration })
}
