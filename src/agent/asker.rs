//! Asks the model of a turn, within what the turn may spend, and counts what it costs.
//!
//! Not here: what is asked, and what is made of the answer.

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

/// An answer with fewer tokens than this is not requested.
const SHORTEST: u64 = 64;

/// Asks the model of a turn. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Asker {
    model: Arc<dyn Model>,
    /// The user, and the deadline.
    context: ToolContext,
    meter: Arc<Meter>,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The next step. Something is left for the answer.
    Plan,
    Answer,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unanswered {
    /// The turn's budget of tokens is spent.
    #[error("the tokens of this turn are spent")]
    Spent,
    #[error("{0}")]
    Failed(#[from] ModelError),
}

impl Asker {
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

    pub(super) async fn whole(&self, purpose: Purpose, request: Request) -> Result<Whole, Unanswered> {
        let asked = self.stream(purpose, request)?;
        let span = tracing::info_span!("chat", otel.name = format!("chat {}", self.model.id()));
        Ok(Whole::of(asked).instrument(span).await?)
    }

    /// The parts of an answer as they come, which are counted.
    pub(super) fn stream(
        &self,
        purpose: Purpose,
        mut request: Request,
    ) -> Result<ResponseStream, Unanswered> {
        let input = tokens::estimate(size(&request));
        let left = match purpose {
            Purpose::Plan => self.meter.left_for_plans(),
            Purpose::Answer => self.meter.left(),
        };
        let room = left.saturating_sub(input);
        if room < SHORTEST {
            return Err(Unanswered::Spent);
        }
        request.max_tokens = Some(u32::try_from(room).unwrap_or(u32::MAX));
        let mut counting = Counting {
            model: Arc::clone(&self.model),
            meter: Arc::clone(&self.meter),
            began: clock::now(),
            input,
            output: 0,
            outcome: "dropped",
            told: None,
        };
        let answer = self.model.chat(request, &self.context);
        Ok(answer.inspect(move |part| counting.count_part(part)).boxed())
    }
}

/// Counts an answer when it is over, even if it is dropped.
struct Counting {
    model: Arc<dyn Model>,
    meter: Arc<Meter>,
    began: Instant,
    /// What was sent, estimated.
    input: u64,
    /// The bytes that came.
    output: u64,
    outcome: &'static str,
    /// What the provider says that it cost.
    told: Option<Usage>,
}

impl Counting {
    fn count_part(&mut self, part: &Result<Part, ModelError>) {
        match part {
            Ok(Part::Text(text)) => self.output += text.len() as u64,
            Ok(Part::Calls(calls)) => self.output += calls.iter().map(size_of_call).sum::<usize>() as u64,
            Ok(Part::End { usage, .. }) => {
                self.outcome = "ok";
                self.told = Some(*usage);
            }
            Err(error) => self.outcome = error.into_str(),
        }
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        let told = mem::take(&mut self.told).unwrap_or_default();
        // A provider that tells nothing costs something nevertheless.
        let or = |told: u64, estimated: u64| if told == 0 { estimated } else { told };
        let usage = Usage {
            input_tokens: or(told.input_tokens, self.input),
            output_tokens: or(told.output_tokens, tokens::estimate(self.output)),
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
