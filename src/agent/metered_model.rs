//! The model of a turn: asks it within the turn's budget, and counts the tokens. Not here: the requests, and how
//! answers are used.

use std::{mem, sync::Arc};

use futures_util::StreamExt;
use tokio::time::Instant;
use tracing::Instrument;

use super::meter::Meter;
use toolwire_base::clock;
use toolwire_sources::models::{
    Message, Model, ModelError, Part, Request, ResponseStream, ToolCall, Usage, Whole,
};
use toolwire_telemetry::metric;
use toolwire_tokens as tokens;
use toolwire_tool::context::ToolContext;

/// The least room for an answer, in tokens: with less the budget counts as spent.
const SHORTEST: u64 = 64;

/// A model with the budget of a turn. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct MeteredModel {
    model: Arc<dyn Model>,
    /// The user, and the deadline.
    context: ToolContext,
    meter: Arc<Meter>,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The next step. A part of the budget is reserved for the answer.
    Plan,
    Answer,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum AskError {
    /// The turn's budget of tokens is spent.
    #[error("the tokens of this turn are spent")]
    Spent,
    #[error("{0}")]
    Failed(#[from] ModelError),
}

impl MeteredModel {
    pub(super) fn new(model: Arc<dyn Model>, context: ToolContext, meter: Arc<Meter>) -> Self {
        Self { model, context, meter }
    }

    pub(super) fn model(&self) -> &dyn Model {
        &*self.model
    }

    /// The whole budget of the turn, in tokens.
    pub(super) fn budget(&self) -> u64 {
        self.meter.most()
    }

    pub(super) async fn ask(&self, purpose: Purpose, request: Request) -> Result<Whole, AskError> {
        let answer = self.stream(purpose, request)?;
        let span = tracing::info_span!("chat", otel.name = format!("chat {}", self.model.id()));
        Ok(Whole::of(answer).instrument(span).await?)
    }

    /// Streams the parts of an answer, and meters them.
    pub(super) fn stream(&self, purpose: Purpose, mut request: Request) -> Result<ResponseStream, AskError> {
        let input = tokens::estimate(size(&request));
        let left = match purpose {
            Purpose::Plan => self.meter.remaining_for_plans(),
            Purpose::Answer => self.meter.remaining(),
        };
        let room = left.saturating_sub(input);
        if room < SHORTEST {
            return Err(AskError::Spent);
        }
        request.max_tokens = Some(u32::try_from(room).unwrap_or(u32::MAX));
        let mut counting = Counting {
            model: Arc::clone(&self.model),
            meter: Arc::clone(&self.meter),
            began: clock::now(),
            input,
            output: 0,
            outcome: "dropped",
            reported: None,
        };
        let answer = self.model.chat(request, &self.context);
        Ok(answer.inspect(move |part| counting.count_part(part)).boxed())
    }
}

/// Meters an answer when it ends, also by being dropped: the provider charges for what it has sent.
struct Counting {
    model: Arc<dyn Model>,
    meter: Arc<Meter>,
    began: Instant,
    /// Tokens of the request, estimated.
    input: u64,
    /// Bytes received.
    output: u64,
    outcome: &'static str,
    /// The usage that the provider reports.
    reported: Option<Usage>,
}

impl Counting {
    fn count_part(&mut self, part: &Result<Part, ModelError>) {
        match part {
            Ok(Part::Text(text)) => self.output += text.len() as u64,
            Ok(Part::Calls(calls)) => self.output += calls.iter().map(size_of_call).sum::<usize>() as u64,
            Ok(Part::End { usage, .. }) => {
                self.outcome = "ok";
                self.reported = Some(*usage);
            }
            Err(error) => self.outcome = error.into_str(),
        }
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        let reported = mem::take(&mut self.reported).unwrap_or_default();
        // Zero is a provider that reports nothing: its tokens are estimated, or a turn would have no bound.
        let or = |reported: u64, estimated: u64| if reported == 0 { estimated } else { reported };
        let usage = Usage {
            input_tokens: or(reported.input_tokens, self.input),
            output_tokens: or(reported.output_tokens, tokens::estimate(self.output)),
        };
        self.meter.add(usage);
        metric::model_asked(
            self.model.id(),
            self.outcome,
            clock::now() - self.began,
            [usage.input_tokens, usage.output_tokens],
        );
    }
}

fn size(request: &Request) -> u64 {
    let message = |message: &Message| match message {
        Message::User(text) | Message::System(text) => text.len(),
        Message::Assistant { text, calls } => text.len() + calls.iter().map(size_of_call).sum::<usize>(),
        Message::Results(outputs) => outputs.iter().map(|output| output.text.len()).sum(),
    };
    let tools = request.tools.as_ref().map_or(0, |tools| tools.to_string().len());
    (request.system.len() + tools + request.messages.iter().map(message).sum::<usize>()) as u64
}

fn size_of_call(call: &ToolCall) -> usize {
    call.tool.len() + call.arguments.to_string().len()
}
