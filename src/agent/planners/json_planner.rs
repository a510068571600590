//! Plans by a model in words: it is given the tools as lines and answers with one JSON object.
//!
//! Whatever it answers, a plan names tools of the offer and nothing else; what cannot be used is asked for once more.

mod read;

use std::sync::Arc;

use futures_util::future::BoxFuture;

use self::read::{Decision, read};
use crate::{
    metered_model::{AskError, MeteredModel, Purpose},
    prompt_view,
    prompts::{Prompt, Prompts, Values},
};
use toolwire_engine::registry::{Detail, describe_for_planner, guidance_for_planner};
use toolwire_planner::{Plan, PlanError, PlanRequest, PlannedCall, Planner, Step};
use toolwire_sources::{
    models::{Message, Request},
    upstream::source_status::SourceBudget,
};

/// Maximum length, in characters, of unusable output that is shown again.
const LONGEST_ECHO: usize = 2_000;

/// Plans of one turn by a model's JSON.
#[derive(Debug)]
pub(crate) struct JsonPlanner {
    pub(crate) model: MeteredModel,
    pub(crate) prompts: Arc<Prompts>,
    /// How often each source may be asked.
    pub(crate) budgets: Arc<[SourceBudget]>,
}

impl Planner for JsonPlanner {
    fn plan<'a>(&'a self, request: PlanRequest<'a>) -> BoxFuture<'a, Result<Plan, PlanError>> {
        Box::pin(self.decide(request))
    }
}

impl JsonPlanner {
    async fn decide(&self, request: PlanRequest<'_>) -> Result<Plan, PlanError> {
        let mut model_request = self.model_request(&request).await;
        let said = self.ask(model_request.clone()).await?;
        let problem = match read(&said, request.offer) {
            Ok(decision) => return Ok(plan(decision)),
            Err(wrong) => wrong.to_string(),
        };
        let values = Values { problem: &problem, ..Values::default() };
        model_request.messages.push(Message::assistant(echo(&said)));
        model_request.messages.push(Message::User(self.prompts.render(Prompt::RepairPlan, &values)));
        let said = self.ask(model_request).await?;
        read(&said, request.offer).map(plan).map_err(|wrong| PlanError::failed(wrong.reason()))
    }

    async fn ask(&self, request: Request) -> Result<String, PlanError> {
        Ok(self.model.ask(Purpose::Plan, request).await?.text)
    }

    async fn model_request(&self, request: &PlanRequest<'_>) -> Request {
        let tools = request.offer.tools();
        let system = self.prompts.render(
            Prompt::ToolPlanner,
            &Values {
                today: &request.today.to_string(),
                account: request.account.unwrap_or_default(),
                available_tools: &describe_for_planner(tools, Detail::Parameters),
                guidance: &guidance_for_planner(tools, &self.budgets),
                ..Values::default()
            },
        );
        let mut messages = prompt_view::conversation(request, self.model.budget());
        messages.extend(prompt_view::results(request, self.model.budget()).await);
        Request { system, messages, ..Request::default() }
    }
}

fn plan(decision: Decision) -> Plan {
    let Decision { call, reason } = decision;
    let step = call.map_or(Step::Answer, |(tool, arguments)| {
        let by_model = Some(Box::default());
        Step::Call(vec![PlannedCall { tool, arguments, reason: reason.clone(), by_model }])
    });
    Plan { step, reason, confidence: 1.0, alternatives: Vec::new() }
}

/// What the model said, for it to see again: an empty message is refused by providers.
fn echo(said: &str) -> String {
    let said: String = said.trim().chars().take(LONGEST_ECHO).collect();
    if said.is_empty() { "(nothing)".to_owned() } else { said }
}

impl From<AskError> for PlanError {
    fn from(unanswered: AskError) -> Self {
        Self { reason: unanswered.to_string(), is_spent: unanswered == AskError::Spent }
    }
}
