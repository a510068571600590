//! A call that another process carries out, and its end when that process, or the connection to it, is lost.
//!
//! | lost | what happens |
//! |---|---|
//! | provably before the call was sent | once more, then UNAVAILABLE |
//! | refused, as it may not be over another connection | once more, then as it was refused |
//! | a read or a repeatable write, not cancelled, no chunk passed on, 1 s left, the first time | once more |
//! | a read or a repeatable write otherwise | UNAVAILABLE |
//! | any other write | `OUTCOME_UNKNOWN` |

use std::{future::ready, sync::Arc};

use tokio::{select, time::Instant};

use crate::{
    bounds::{MAX_ARGUMENTS, MAX_PROGRESS, RETRY_AFTER, RETRY_NEEDS, WAIT_MARGIN},
    outcome::{Effect, cut},
    spec::Spec,
};
use toolwire_base::clock;
use toolwire_contract::{ErrorCode, Origin, Payload, ToolError, arguments::Arguments};
use toolwire_tool::context::ToolContext;

/// A tool that another process executes: how one attempt at a call of it is made.
pub trait RemoteTool: Send + Sync {
    /// What the process is, in errors.
    const KIND: &'static str;

    /// Has a call carried out. An error is one before the call was sent, and ends it.
    fn attempt(&self, call: &Call<'_>) -> impl Future<Output = Result<Attempt, ToolError>> + Send;

    /// Waits for what a second attempt needs.
    fn recover(&self) -> impl Future<Output = ()> + Send {
        ready(())
    }
}

/// How one attempt ended.
#[derive(Debug)]
pub enum Attempt {
    Ended(Result<Payload, ToolError>),
    /// The call provably was not sent.
    Unsent,
    /// The call was not carried out, as it may be over another connection. The error is that of the call if there is no
    /// second attempt.
    Refused(ToolError),
    Lost {
        has_passed_chunk: bool,
    },
}

/// A call under way.
#[derive(Debug)]
pub struct Call<'a> {
    pub spec: &'a Arc<Spec>,
    pub context: &'a ToolContext,
    pub arguments: Arguments,
    /// The arguments as JSON.
    pub text: String,
    until: Instant,
}

impl<'a> Call<'a> {
    /// Fails if the arguments are too large.
    pub fn new(
        spec: &'a Arc<Spec>,
        context: &'a ToolContext,
        arguments: Arguments,
    ) -> Result<Self, ToolError> {
        let text = serde_json::to_string(&arguments).expect("a map of JSON values");
        if text.len() > MAX_ARGUMENTS {
            let text = format!("The arguments are {} bytes, over the limit of {MAX_ARGUMENTS}.", text.len());
            return Err(ToolError::new(ErrorCode::InvalidArgument, text));
        }
        let until = context.deadline.awaited().min(clock::now() + spec.timeout);
        Ok(Self { spec, context, arguments, text, until })
    }

    /// Makes attempts until the call has ended.
    pub async fn carry_out<T: RemoteTool>(&self, tool: &T) -> Result<Payload, ToolError> {
        let mut is_repeat = false;
        loop {
            let attempt = tool.attempt(self).await?;
            let may_repeat = !is_repeat
                && !self.context.cancellation.is_cancelled()
                && clock::remaining(self.until) >= RETRY_NEEDS;
            match attempt {
                Attempt::Ended(result) => return result,
                Attempt::Lost { .. } if self.spec.effect == Effect::Write => {
                    return Err(self.unknown_outcome(T::KIND));
                }
                Attempt::Unsent | Attempt::Refused(_) | Attempt::Lost { has_passed_chunk: false }
                    if may_repeat => {}
                Attempt::Refused(error) => return Err(error),
                Attempt::Unsent => return Err(self.unsent("its connection took it no more")),
                Attempt::Lost { .. } => return Err(self.loss(T::KIND)),
            }
            is_repeat = true;
            self.unless_cancelled(tool.recover()).await?;
        }
    }

    /// Refuses to send it once its caller has its answer: a write of which the caller knows no end must not begin.
    pub fn check_time(&self) -> Result<(), ToolError> {
        if self.context.cancellation.is_cancelled() {
            return Err(ToolError::cancelled());
        }
        if clock::now() >= self.until {
            return Err(self.unsent("its time was over"));
        }
        Ok(())
    }

    /// When it stops waiting to be sent, so that its answer can say what it waited for.
    pub fn waits_until(&self) -> Instant {
        self.until.checked_sub(WAIT_MARGIN).unwrap_or(self.until)
    }

    pub async fn unless_cancelled<V>(&self, waiting: impl Future<Output = V>) -> Result<V, ToolError> {
        select! {
            biased;
            () = self.context.cancellation.cancelled() => Err(ToolError::cancelled()),
            waited = waiting => Ok(waited),
        }
    }

    /// Reports progress to the caller.
    pub fn report(&self, fraction: Option<f64>, message: &str) {
        let fraction = fraction.filter(|it| (0.0..=1.0).contains(it));
        self.context.events.progress(fraction, cut(message, MAX_PROGRESS));
    }

    /// It was not sent.
    pub fn unavailable(&self, text: String) -> ToolError {
        ToolError::new(ErrorCode::Unavailable, text)
            .with_retry_after(RETRY_AFTER)
            .with_origin(Origin::Service)
    }

    fn unsent(&self, why: &str) -> ToolError {
        self.unavailable(format!("The call of {} was not sent: {why}.", self.spec.tool))
    }

    fn loss(&self, kind: &str) -> ToolError {
        let text = format!("The {kind} that carried {} out was lost. Call again.", self.spec.tool);
        ToolError::new(ErrorCode::Unavailable, text).with_retry_after(RETRY_AFTER)
    }

    fn unknown_outcome(&self, kind: &str) -> ToolError {
        let text = format!(
            "The {kind} that carried {} out was lost, and how the call ended is not known. Call again with the same \
             request_id to learn it; nothing will be done twice.",
            self.spec.tool
        );
        ToolError::new(ErrorCode::OutcomeUnknown, text).with_origin(Origin::Tool)
    }
}
