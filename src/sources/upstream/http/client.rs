//! The client of one source, which its connector uses.

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use tower::{ServiceBuilder, ServiceExt, util::BoxCloneSyncService};

use super::{
    Answer, Failure, Outgoing, Part, Profile, Sender, cool_down,
    limit::Limit,
    losses, parse, record,
    request::{Attempts, Request},
    retry::Retry,
    send::Send,
};
use crate::upstream::{
    limiter::Limiter,
    settings::CoolDown,
    stack::{self, HoldOff, Scope},
};
use toolwire_base::middleware::Layer;
use toolwire_state::{MemoryHoldOffs, cool_downs::CoolDowns, hold_offs::HoldOffs};
use toolwire_tool::context::ToolContext;

/// Maximum number of redirects of one GET.
const MAX_REDIRECTS: usize = 3;

/// The client of one source. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub struct Client {
    parts: StackParts,
    stack: BoxCloneSyncService<Request, Answer, Failure>,
}

/// The parts that a stack is built from. Kept, so that a variant of the client can be built.
#[derive(Clone, Debug)]
struct StackParts {
    profile: Profile,
    part: Option<Part>,
    sender: Sender,
    limiter: Arc<dyn Limiter>,
    cool_downs: Arc<dyn CoolDowns>,
    lengths: CoolDown,
    hold_offs: Arc<dyn HoldOffs>,
}

impl StackParts {
    /// Builds the stack. A request passes the layers from top to bottom.
    fn build(self) -> BoxCloneSyncService<Request, Answer, Failure> {
        let Self { profile, part, sender, limiter, cool_downs, lengths, hold_offs } = self;
        let send = Send::new(sender, profile);
        let subject = profile.subject(part);
        let hold_off = HoldOff::new(subject.clone(), hold_offs);
        let limit = stack::Limit::new(subject.clone(), Arc::clone(&limiter), hold_off);
        let cool_downs = Scope::new(subject, cool_downs, lengths);
        let stack = ServiceBuilder::new()
            // Outermost: a source that refused us is neither waited for nor retried.
            .layer(Layer(cool_down::Check(cool_downs.clone())))
            // Above the limit: each attempt takes a permit of its own.
            .layer(Layer(Retry::new(profile, limiter)))
            // May wait for long. On the way back it records a pause that the source asks for, also of the last attempt.
            .layer(Layer(Limit(limit)))
            // Below the wait: the source may have refused another request meanwhile.
            .layer(Layer(cool_down::Recheck(cool_downs)))
            // One attempt, with its time-out.
            .service_fn(move |request| send.clone().attempt(request));
        BoxCloneSyncService::new(stack)
    }
}

impl Client {
    /// The client of a source, with the default cool-downs and hold-offs in memory.
    pub fn new(
        profile: Profile,
        sender: Sender,
        limiter: Arc<dyn Limiter>,
        cool_downs: Arc<dyn CoolDowns>,
    ) -> Self {
        let (lengths, hold_offs) = (CoolDown::default(), Arc::<MemoryHoldOffs>::default());
        Self::of(StackParts { profile, part: None, sender, limiter, cool_downs, lengths, hold_offs })
    }

    /// The same client with cool-downs of other lengths.
    pub fn with_cool_down(self, lengths: CoolDown) -> Self {
        Self::of(StackParts { lengths, ..self.parts })
    }

    /// The same client with its hold-offs in the given store.
    pub fn with_hold_offs(self, hold_offs: Arc<dyn HoldOffs>) -> Self {
        Self::of(StackParts { hold_offs, ..self.parts })
    }

    /// A client of a part of the source: the refusals of one part leave the others alone, and are reported by the
    /// part's title.
    pub fn apart(&self, part: Part) -> Self {
        let parts = self.parts.clone();
        let profile = Profile { title: part.title, ..parts.profile };
        Self::of(StackParts { profile, part: Some(part), ..parts })
    }

    fn of(parts: StackParts) -> Self {
        Self { stack: parts.clone().build(), parts }
    }

    pub fn profile(&self) -> &Profile {
        &self.parts.profile
    }

    /// How long refused credentials are not tried again.
    pub fn auth_failed_for(&self) -> Duration {
        self.parts.lengths.auth_failed
    }

    /// Sends a request through the stack, on behalf of a call. A redirect of a GET within the origin is followed,
    /// unless the connector accepts it as an answer; each request passes the whole stack, limits included.
    pub async fn send(&self, mut outgoing: Outgoing, context: &ToolContext) -> Result<Answer, Failure> {
        for _ in 0..=MAX_REDIRECTS {
            let answer = self.send_once(outgoing.clone(), context).await?;
            if !outgoing.is_redirected_by(&answer) {
                return Ok(answer);
            }
            let target = answer.redirect().map_err(|failure| self.complete(failure, context))?;
            outgoing = outgoing.redirect_to(target);
        }
        let failure = Failure::malformed(format!("more than {MAX_REDIRECTS} redirects"));
        Err(self.complete(failure, context))
    }

    async fn send_once(&self, outgoing: Outgoing, context: &ToolContext) -> Result<Answer, Failure> {
        if context.cancellation.is_cancelled() {
            return Err(self.complete(Failure::cancelled(), context));
        }
        let request = Request::new(outgoing, context, self.profile().name);
        let sent = self.stack.clone().oneshot(request).await;
        sent.map_err(|failure| self.complete(failure, context))
    }

    /// Parses an answer on behalf of a call; a large one off the threads that carry calls. A failure or a panic of the
    /// parser is a failure of the source. The call is warned of parts of the answer that are lost.
    pub async fn read<T: std::marker::Send + 'static>(
        &self,
        answer: Answer,
        context: &ToolContext,
        parse: impl FnOnce(&Answer) -> Result<T, Failure> + std::marker::Send + 'static,
    ) -> Result<T, Failure> {
        let (read, faults) = parse::read(answer, parse).await;
        let read = read.map_err(|failure| self.complete_failure(failure, context))?;
        if !faults.is_empty() {
            record::partly_read(self.profile().name, &faults, context);
            losses::note(context, self.profile().title, faults);
        }
        Ok(read)
    }

    /// Completes the failure of an answer that the stack let pass and the connector cannot use: with the source, the
    /// number of requests and a line in the log. A failure of the stack has them already, and stays as it is.
    pub fn complete_failure(&self, failure: Failure, context: &ToolContext) -> Failure {
        if failure.source_title.is_empty() { self.complete(failure, context) } else { failure }
    }

    /// Adds the source and the number of requests to a failure, and logs it: once, as every failure passes here once.
    fn complete(&self, failure: Failure, context: &ToolContext) -> Failure {
        let Profile { name, title, .. } = *self.profile();
        let attempts = Attempts::of(context, name).get();
        let failure = Failure { source_title: title, attempts, ..self.profile().reword(failure) };
        record::record_failure(self.profile(), &failure, context);
        failure
    }
}
