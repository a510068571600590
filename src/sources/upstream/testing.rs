//! For the tests of connectors: a client without limits and cool-downs, and a call to send for.
//!
//! Not here: tests of the stack itself.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use futures_util::future::{BoxFuture, ready};
use http::HeaderValue;

use crate::upstream::{
    http::{Client, Profile, Sender},
    limiter::{Budgets, MemoryLimiter},
};
use toolwire_base::clock;
use toolwire_db::StoreError;
use toolwire_outgoing::Egress;
use toolwire_state::{
    MemoryCoolDowns,
    cool_downs::{CoolDown, CoolDowns},
};
use toolwire_tool::context::{ToolContext, User, UserId};

/// The `User-Agent` for sources that need none of their own.
pub const USER_AGENT: HeaderValue = HeaderValue::from_static("as the test is configured");

/// Connections that go out directly.
pub fn sender() -> Sender {
    Sender::new(&Egress::default()).expect("a sender")
}

/// A client of the source that never waits, never retries and forgets every cool-down.
pub fn client(profile: Profile) -> Client {
    client_over(profile, sender().with_user_agent(USER_AGENT))
}

/// A client of the source that never waits, retries as its profile says and remembers refusals.
pub fn client_remembering(profile: Profile) -> Client {
    let sender = sender().with_user_agent(USER_AGENT);
    Client::new(profile, sender, unlimited(), Arc::<MemoryCoolDowns>::default())
}

/// A client as of [`client`], over the given connections.
pub fn client_over(profile: Profile, sender: Sender) -> Client {
    let profile = Profile { may_retry: false, ..profile };
    Client::new(profile, sender, unlimited(), Arc::new(NoCoolDowns))
}

/// A call with a minute's time.
pub fn context() -> ToolContext {
    let user = User::new("demo".parse().expect("a user id"));
    ToolContext::new(user, clock::now() + Duration::from_mins(1))
}

/// Limits no source.
fn unlimited() -> Arc<MemoryLimiter> {
    Arc::new(MemoryLimiter::new([] as [(&str, Budgets); 0]))
}

#[derive(Debug)]
struct NoCoolDowns;

impl CoolDowns for NoCoolDowns {
    fn in_force<'a>(
        &'a self,
        _source: &'a str,
        _user: &'a UserId,
        _now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<CoolDown>, StoreError>> {
        Box::pin(ready(Ok(None)))
    }

    fn begin<'a>(
        &'a self,
        _source: &'a str,
        _user: Option<&'a UserId>,
        _cool_down: &'a CoolDown,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(ready(Ok(())))
    }

    fn of_sources(&self, _now: SystemTime) -> BoxFuture<'_, Result<Vec<(String, CoolDown)>, StoreError>> {
        Box::pin(ready(Ok(Vec::new())))
    }
}
