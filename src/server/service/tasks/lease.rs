//! Leases: which worker holds a task, and until when.

use std::time::Duration;

use tokio::select;
use tokio_util::sync::CancellationToken;

use super::{Tasks, create::role, look_again, parse_id, why};
use crate::service::request::refuse;
use toolwire_base::clock;
use toolwire_contract::Refusal;
use toolwire_store::{
    tasks as store,
    tasks::{LeaseRequest, Leased},
};
use toolwire_tool::context::{TaskId, User};

/// How long a lease lasts, unless its holder says otherwise, and the bounds.
const USUAL: Duration = Duration::from_secs(30);
const SHORTEST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_mins(5);

/// The longest that anybody waits for a task in one request.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// The longest name of a worker, in characters.
const LONGEST_HOLDER: usize = 128;

/// The most roles of one wish.
const MOST_ROLES: usize = 32;

/// A worker's wish for a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseWish {
    pub wanted: LeaseTarget,
    /// The worker, for people.
    pub holder: String,
    pub duration: Option<Duration>,
    /// The lease to renew. 0: a new one.
    pub token: u64,
    /// How long to wait for a task of these roles.
    pub wait: Duration,
}

/// What a worker wants to work on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseTarget {
    Task(String),
    /// The oldest task of any of these roles.
    AnyOf(Vec<String>),
}

impl Tasks {
    /// Takes or renews a lease. `None` if no task of the wanted roles is to be had in time, which is over when `ends`
    /// fires, too.
    pub async fn lease(
        &self,
        user: &User,
        wish: LeaseWish,
        ends: &CancellationToken,
    ) -> Result<Option<Leased>, Refusal> {
        let (wait, request) = (wish.wait, check(wish)?);
        if wait > LONGEST_WAIT {
            return Err(refuse("wait", "maximum", &format!("must be at most {} s", LONGEST_WAIT.as_secs())));
        }
        let until = clock::now() + wait;
        let unnamed = TaskId::generate();
        let id = match &request.target {
            store::LeaseTarget::Task(id, _) => id,
            store::LeaseTarget::AnyOf(_) => &unnamed,
        };
        let mut changed = None;
        loop {
            let leased = self.0.store.lease_task(&user.id, &request, clock::wall()).await.map_err(why(id))?;
            if leased.is_some() || clock::now() >= until || ends.is_cancelled() {
                return Ok(leased);
            }
            // Listening from before the look that finds nothing, so that nothing is missed.
            match &mut changed {
                None => changed = Some(self.subscribe().await?),
                Some(changed) => {
                    select! {
                        () = look_again(changed, until) => {}
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
        self.0.store.release_task(&user.id, &id, token, clock::wall()).await.map_err(why(&id))
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
            if roles.is_empty() || roles.len() > MOST_ROLES {
                let what = format!("must have 1 to {MOST_ROLES} elements");
                return Err(refuse("any_of.roles", "max_items", &what));
            }
            for name in &roles {
                role("any_of.roles", name)?;
            }
            store::LeaseTarget::AnyOf(roles)
        }
    };
    let length = holder.chars().count();
    if holder.trim().is_empty() || length > LONGEST_HOLDER {
        let what = format!("must name the worker, in 1 to {LONGEST_HOLDER} characters");
        return Err(refuse("holder", "required", &what));
    }
    let duration = duration.unwrap_or(USUAL);
    if !(SHORTEST..=LONGEST).contains(&duration) {
        let what = format!("must be from {} s to {} s", SHORTEST.as_secs(), LONGEST.as_secs());
        return Err(refuse("duration", "range", &what));
    }
    Ok(LeaseRequest { target, holder, duration })
}
