//! Plans by a model's own calls of tools. The model gets the declarations of the export, and its own calls with their
//! results, until it calls nothing and writes the answer.
//!
//! Whatever it calls, a name that was not offered and arguments that are not an object become results that it sees, and
//! no calls are made.

mod decode;
mod render;

use std::sync::{Arc, OnceLock};

use futures_util::future::BoxFuture;
use serde_json::Value;

use self::{decode::calls, render::steps};
use crate::{
    metered_model::{MeteredModel, Purpose},
    prompt_view,
    prompts::{Prompt, Prompts, Values},
};
use toolwire_engine::{
    exports::{self, Format, Options},
    registry::guidance_for_planner,
};
use toolwire_planner::{ExecutedCall, Offer, Plan, PlanError, PlanRequest, Planner, Step};
use toolwire_sources::{
    models::{Request, ToolForm, Whole},
    upstream::source_status::SourceBudget,
};

/// After this many answers in a row with nothing but malformed calls, the model has failed.
const MOST_BROKEN: usize = 2;

/// Plans of one turn by a model's own calls.
#[derive(Debug)]
pub(crate) struct NativePlanner {
    pub(crate) model: MeteredModel,
    pub(crate) prompts: Arc<Prompts>,
    /// How often each source may be asked.
    pub(crate) budgets: Arc<[SourceBudget]>,
    /// The declarations of the turn's tools, which are the same at each step.
    pub(crate) declared: OnceLock<Option<Arc<Value>>>,
}

impl Planner for NativePlanner {
    fn plan<'a>(&'a self, request: PlanRequest<'a>) -> BoxFuture<'a, Result<Plan, PlanError>> {
        Box::pin(self.decide(request))
    }
}

impl NativePlanner {
    async fn decide(&self, request: PlanRequest<'_>) -> Result<Plan, PlanError> {
        if is_lost(request.made, request.offer) {
            return Err(PlanError::failed("the model calls tools that there are not"));
        }
        let answer =
            request.made.last().and_then(|made| made.call.by_model.as_ref()).map_or(0, |it| it.answer + 1);
        let whole = self.model.ask(Purpose::Plan, self.model_request(&request).await).await?;
        let Whole { text, calls: called, .. } = whole;
        let step = match calls(called, answer, request.offer) {
            calls if !calls.is_empty() => Step::Call(calls),
            // The answerer then writes the answer.
            _ if text.trim().is_empty() => Step::Answer,
            _ => Step::Say(text),
        };
        Ok(Plan { step, reason: String::new(), confidence: 1.0, alternatives: Vec::new() })
    }

    async fn model_request(&self, request: &PlanRequest<'_>) -> Request {
        let budget = self.model.budget();
        let system = self.prompts.render(
            Prompt::Agent,
            &Values {
                today: &request.today.to_string(),
                account: request.account.unwrap_or_default(),
                guidance: &guidance_for_planner(request.offer.tools(), &self.budgets),
                ..Values::default()
            },
        );
        let mut messages = prompt_view::conversation(request, budget);
        messages.extend(steps(request, budget).await);
        let tools = self.declared.get_or_init(|| declare(self.model.model().form(), request.offer)).clone();
        Request { system, messages, tools, ..Request::default() }
    }
}

/// The tools of an offer as the provider takes them: the export, and nothing else. `None` if there are none.
fn declare(form: ToolForm, offer: &Offer) -> Option<Arc<Value>> {
    let format = match form {
        ToolForm::Gemini => Format::Gemini,
        ToolForm::Openai => Format::Openai,
        ToolForm::Anthropic => Format::Anthropic,
    };
    let definitions: Vec<_> = offer.tools().iter().map(|tool| &tool.definition).collect();
    let export = exports::export(format, &definitions, &Options::default());
    let tools: Value = serde_json::from_str(&export.json).expect("an export is JSON");
    tools.as_array().is_some_and(|tools| !tools.is_empty()).then(|| Arc::new(tools))
}

/// Whether the last answers were nothing but calls that are none.
fn is_lost(made: &[ExecutedCall], offer: &Offer) -> bool {
    let is_none = |made: &ExecutedCall| {
        made.call.by_model.as_ref().is_some_and(|it| it.unreadable.is_some())
            || offer.get(&made.call.tool).is_none()
    };
    let answers = made.chunk_by(|a, b| answer_of(a) == answer_of(b));
    let broken = answers.rev().take(MOST_BROKEN).filter(|answer| answer.iter().all(is_none));
    broken.count() == MOST_BROKEN
}

/// The number of the answer that a call was made in.
fn answer_of(made: &ExecutedCall) -> Option<u32> {
    made.call.by_model.as_ref().map(|it| it.answer)
}
