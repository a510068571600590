//! The client of one source, which its connector uses.

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use tower::{ServiceBuilder, ServiceExt, util::BoxCloneSyncService};

use super::{
    Answer, Failure, Outgoing, Part, Profile, Sender, cool_down,
    hold_off::HoldOff,
    limit::Limit,
    losses, reading, record,
    request::{Attempts, Request},
    retry::Retry,
    send::Send,
};
use crate::upstream::{limiter::Limiter, settings::CoolDown};
use toolwire_base::middleware::Layer;
use toolwire_store::{MemoryHoldOffs, cool_downs::CoolDowns, hold_offs::HoldOffs};
use toolwire_tool::context::ToolContext;

/// A GET that is sent on more often goes round in circles.
const MAX_REDIRECTS: usize = 3;

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
    part: Option<Part>,
    sender: Sender,
    limiter: Arc<dyn Limiter>,
    cool_downs: Arc<dyn CoolDowns>,
    lengths: CoolDown,
    hold_offs: Arc<dyn HoldOffs>,
}

impl Parts {
    /// The stack. Top to bottom is the way of a request.
    fn stack(self) -> BoxCloneSyncService<Request, Answer, Failure> {
        let Self { profile, part, sender, limiter, cool_downs, lengths, hold_offs } = self;
        let send = Send::new(sender, profile);
        let hold_off = HoldOff::new(profile, part, hold_offs);
        let cool_downs = cool_down::Scope::new(profile, part, cool_downs);
        let stack = ServiceBuilder::new()
            // Outermost: a source that refused us is not even waited for.
            .layer(Layer(cool_down::Check::new(cool_downs.clone(), lengths)))
            // Above the limit: each attempt takes its own permit.
            .layer(Layer(Retry::new(profile, Arc::clone(&limiter))))
            // Each request takes a permit.
            .layer(Layer(Limit::new(profile, limiter, hold_off)))
            // Last before the wire: what waited for its turn may meet a refusal that came meanwhile.
            .layer(Layer(cool_down::Recheck::new(cool_downs)))
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
        let (lengths, hold_offs) = (CoolDown::default(), Arc::<MemoryHoldOffs>::default());
        Self::of(Parts { profile, part: None, sender, limiter, cool_downs, lengths, hold_offs })
    }

    /// The same client with other cool-downs.
    pub fn cooling_down_for(self, lengths: CoolDown) -> Self {
        Self::of(Parts { lengths, ..self.parts })
    }

    /// The same client, whose hold-offs are kept with those of others.
    pub fn holding_off_in(self, hold_offs: Arc<dyn HoldOffs>) -> Self {
        Self::of(Parts { hold_offs, ..self.parts })
    }

    /// A client of a part of the source: the refusals of one part leave the others alone, and are reported by the
    /// part's title.
    pub fn apart(&self, part: Part) -> Self {
        let parts = self.parts.clone();
        let profile = Profile { title: part.title, ..parts.profile };
        Self::of(Parts { profile, part: Some(part), ..parts })
    }

    fn of(parts: Parts) -> Self {
        Self { stack: parts.clone().stack(), parts }
    }

    pub fn profile(&self) -> &Profile {
        &self.parts.profile
    }

    /// How long refused credentials are not tried again.
    pub fn auth_failed_for(&self) -> Duration {
        self.parts.lengths.auth_failed
    }

    /// Sends a request through the stack, on behalf of a call. A GET is sent on where a redirect within the origin
    /// leads, unless its connector accepts the redirect; each request takes the whole stack.
    pub async fn send(&self, mut outgoing: Outgoing, context: &ToolContext) -> Result<Answer, Failure> {
        for _ in 0..=MAX_REDIRECTS {
            let answer = self.send_once(outgoing.clone(), context).await?;
            if !outgoing.is_redirected_by(&answer) {
                return Ok(answer);
            }
            let target = answer.redirect().map_err(|failure| self.finished(failure, context))?;
            outgoing = outgoing.redirect_to(target);
        }
        let failure = Failure::malformed(format!("more than {MAX_REDIRECTS} redirects"));
        Err(self.finished(failure, context))
    }

    async fn send_once(&self, outgoing: Outgoing, context: &ToolContext) -> Result<Answer, Failure> {
        if context.cancellation.is_cancelled() {
            return Err(self.finished(Failure::cancelled(), context));
        }
        let request = Request::new(outgoing, context, self.profile().name);
        let sent = self.stack.clone().oneshot(request).await;
        sent.map_err(|failure| self.finished(failure, context))
    }

    /// What a parser reads in an answer, on behalf of a call; a large one is read beside the threads that carry calls.
    /// A failure, or a panic, is that of an answer which cannot be used. What of the answer is lost although the rest
    /// is read, the call's result warns of.
    pub async fn read<T: std::marker::Send + 'static>(
        &self,
        answer: Answer,
        context: &ToolContext,
        parse: impl FnOnce(&Answer) -> Result<T, Failure> + std::marker::Send + 'static,
    ) -> Result<T, Failure> {
        let (read, faults) = reading::read(answer, parse).await;
        let read = read.map_err(|failure| self.failed(failure, context))?;
        if !faults.is_empty() {
            record::partly_read(self.profile().name, &faults, context);
            losses::note(context, self.profile().title, faults);
        }
        Ok(read)
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
        let failure = Failure { source_title: title, attempts, ..self.profile().reword(failure) };
        record::record_failure(self.profile(), &failure, context);
        failure
    }
}
