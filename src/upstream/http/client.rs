//! The client of one source: what its connector asks through.

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use http::StatusCode;
use tower::{ServiceBuilder, ServiceExt, util::BoxCloneSyncService};

use super::{
    Answer, Failure, Outgoing, Profile, Sender, cool_down,
    layer::Layer,
    limit::Limit,
    record,
    request::{Attempts, Request},
    retry::Retry,
    send::Send,
};
use crate::{
    context::ToolContext,
    store::cool_downs::CoolDowns,
    upstream::{limiter::Limiter, settings::CoolDown},
};

/// The statuses of redirects that a GET follows.
const REDIRECTS: [StatusCode; 5] = [
    StatusCode::MOVED_PERMANENTLY,
    StatusCode::FOUND,
    StatusCode::SEE_OTHER,
    StatusCode::TEMPORARY_REDIRECT,
    StatusCode::PERMANENT_REDIRECT,
];

/// The client of one source. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub struct Client {
    parts: Parts,
    stack: BoxCloneSyncService<Request, Answer, Failure>,
}

/// What a stack is made of.
#[derive(Clone, Debug)]
struct Parts {
    profile: Profile,
    sender: Sender,
    limiter: Arc<dyn Limiter>,
    cool_downs: Arc<dyn CoolDowns>,
    lengths: CoolDown,
}

impl Parts {
    /// The stack. Top to bottom is the way of a request.
    fn stack(self) -> BoxCloneSyncService<Request, Answer, Failure> {
        let Self { profile, sender, limiter, cool_downs, lengths } = self;
        let send = Send::new(sender, profile);
        let stack = ServiceBuilder::new()
            // Outermost: a source that refused us is not even waited for.
            .layer(Layer(cool_down::Check::new(profile, Arc::clone(&cool_downs), lengths)))
            // Above the limit: each attempt takes its own permit.
            .layer(Layer(Retry::new(profile, Arc::clone(&limiter))))
            // Each request takes a permit.
            .layer(Layer(Limit::new(profile, limiter)))
            // Last before the wire: what waited for its turn may meet a refusal that came meanwhile.
            .layer(Layer(cool_down::Recheck::new(profile, cool_downs)))
            // One attempt.
            .service_fn(move |request| send.clone().attempt(request));
        BoxCloneSyncService::new(stack)
    }
}

impl Client {
    /// The client of a source, which is left alone as long as is usual after it refused us.
    pub fn new(
        profile: Profile,
        sender: Sender,
        limiter: Arc<dyn Limiter>,
        cool_downs: Arc<dyn CoolDowns>,
    ) -> Self {
        Self::of(Parts { profile, sender, limiter, cool_downs, lengths: CoolDown::default() })
    }

    /// The same client with other cool-downs.
    pub fn cooling_down_for(self, lengths: CoolDown) -> Self {
        Self::of(Parts { lengths, ..self.parts })
    }

    fn of(parts: Parts) -> Self {
        Self { stack: parts.clone().stack(), parts }
    }

    /// The source.
    pub fn profile(&self) -> &Profile {
        &self.parts.profile
    }

    /// How long refused credentials are not tried again.
    pub fn auth_failed_for(&self) -> Duration {
        self.parts.lengths.auth_failed
    }

    /// Sends a request through the stack, on behalf of a call.
    pub async fn send(&self, outgoing: Outgoing, context: &ToolContext) -> Result<Answer, Failure> {
        if context.cancellation.is_cancelled() {
            return Err(self.finished(Failure::cancelled(), context));
        }
        let request = Request::new(outgoing, context, self.profile().name);
        let sent = self.stack.clone().oneshot(request).await;
        sent.map_err(|failure| self.finished(failure, context))
    }

    /// Sends a GET and follows at most one redirect, within the origin only. Both requests take the whole stack.
    pub async fn send_following(&self, outgoing: Outgoing, context: &ToolContext) -> Result<Answer, Failure> {
        let accepting = REDIRECTS.into_iter().fold(outgoing.clone(), Outgoing::accepting);
        let answer = self.send(accepting, context).await?;
        if !REDIRECTS.contains(&answer.status) {
            return Ok(answer);
        }
        let target = answer.redirect().map_err(|failure| self.finished(failure, context))?;
        self.send(outgoing.redirected(target), context).await
    }

    /// A failure of an answer that the stack let pass and the connector cannot use, as one that the stack found: it
    /// says of which source it is and how many requests were made, and has its line in the log. Those of the stack stay
    /// as they are.
    pub fn failed(&self, failure: Failure, context: &ToolContext) -> Failure {
        if failure.source_title.is_empty() { self.finished(failure, context) } else { failure }
    }

    /// What a failure does not know of itself; and the one line in the log.
    fn finished(&self, failure: Failure, context: &ToolContext) -> Failure {
        let Profile { name, title, .. } = *self.profile();
        let attempts = Attempts::of(context, name).get();
        let failure = Failure { source_title: title, attempts, ..failure };
        record::failed(self.profile(), &failure, context);
        failure
    }
}
