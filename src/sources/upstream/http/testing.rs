//! What the tests of the layers share: a call, a source, a service below with scripted answers.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use futures_util::future::{BoxFuture, ready};
use http::{HeaderMap, StatusCode};
use tower::{Service, service_fn};

use super::{Answer, CredentialsOf, ExpectedBody, Failure, FailureKind, Outgoing, Profile, request::Request};
use toolwire_base::clock;
use toolwire_db::StoreError;
use toolwire_state::cool_downs::{CoolDown, CoolDowns};
use toolwire_tool::context::{ToolContext, User, UserId};

pub(super) const PROFILE: Profile = Profile {
    name: "toy_forum",
    title: "Toy Forum",
    timeout: Duration::from_secs(10),
    max_body: 4096,
    may_retry: true,
    credentials: CredentialsOf::Service,
    check: |_| None,
};

/// A call of riley with this much time.
pub(super) fn context(time: Duration) -> ToolContext {
    ToolContext::new(User::new("riley".parse().unwrap()), clock::now() + time)
}

pub(super) fn get() -> Outgoing {
    Outgoing::get("http://127.0.0.1:9/".parse().unwrap(), ExpectedBody::Json)
}

pub(super) fn request(outgoing: Outgoing, context: &ToolContext) -> Request {
    Request::new(outgoing, context, PROFILE.name)
}

pub(super) fn answer() -> Answer {
    let url = "http://127.0.0.1:9/".parse().unwrap();
    Answer { status: StatusCode::OK, headers: HeaderMap::new(), body: "{}".into(), url }
}

/// A source that fails in the given ways, one after the other, and then answers. Counts its requests.
pub(super) fn failing(
    failures: impl IntoIterator<Item = Failure>,
) -> impl Service<
    Request,
    Response = Answer,
    Error = Failure,
    Future = futures_util::future::Ready<Result<Answer, Failure>>,
> + Clone
+ Send
+ 'static {
    let failures = Arc::new(Mutex::new(failures.into_iter().collect::<VecDeque<_>>()));
    service_fn(move |request: Request| {
        request.attempts.count();
        let failure = failures.lock().unwrap().pop_front();
        ready(failure.map_or_else(|| Ok(answer()), Err))
    })
}

pub(super) fn failure(kind: FailureKind) -> Failure {
    Failure::new(kind, "as the test says")
}

/// Cool-downs in memory, or a store that is broken.
#[derive(Debug, Default)]
pub(super) struct FakeCoolDowns {
    /// The source, the user and the cool-down.
    pub(super) begun: Mutex<Vec<(String, Option<UserId>, CoolDown)>>,
    pub(super) is_broken: bool,
}

impl FakeCoolDowns {
    fn checked<T>(&self, value: T) -> Result<T, StoreError> {
        if self.is_broken { Err(StoreError::Nowhere("the disk is full".to_owned())) } else { Ok(value) }
    }
}

impl CoolDowns for FakeCoolDowns {
    fn in_force<'a>(
        &'a self,
        source: &'a str,
        user: &'a UserId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<CoolDown>, StoreError>> {
        let begun = self.begun.lock().unwrap();
        let concerns = |whom: &Option<UserId>| whom.as_ref().is_none_or(|whom| whom == user);
        let found = begun
            .iter()
            .find(|(of, whom, cool_down)| of == source && concerns(whom) && cool_down.until > now);
        Box::pin(ready(self.checked(found.map(|(.., cool_down)| cool_down.clone()))))
    }

    fn begin<'a>(
        &'a self,
        source: &'a str,
        user: Option<&'a UserId>,
        cool_down: &'a CoolDown,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.begun.lock().unwrap().push((source.to_owned(), user.cloned(), cool_down.clone()));
        Box::pin(ready(self.checked(())))
    }

    fn of_sources(&self, _now: SystemTime) -> BoxFuture<'_, Result<Vec<(String, CoolDown)>, StoreError>> {
        Box::pin(ready(self.checked(Vec::new())))
    }
}
