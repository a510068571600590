//! A planner and an answerer that do what the message says: a JSON object of `plans` and `answer`.

use std::sync::Arc;

use futures_util::{
    StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use serde_json::Value;
use tokio::sync::watch;
use toolwire::{
    agent::{
        answer::{AnswerError, Answerer, Problem},
        ground::ContextBundle,
    },
    planner::{Plan, PlanError, PlanRequest, PlannedCall, Planner, Step},
};

/// Does what messages say. A plan is `{"calls": [{tool, arguments}]}`, `{"clarify": text}`, `{"refuse": text}`,
/// `{"fail": why}` or `{"hang": true}`; without another the turn is answered with the parts of `answer`, and after an
/// issue with those of `repair`.
#[derive(Debug)]
pub(crate) struct Scripted {
    pub(crate) hung: Hung,
}

/// How many planners wait for ever, and how many have been dropped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hung(Arc<watch::Sender<(usize, usize)>>);

struct Hanging(Hung);

impl Hung {
    /// Waits until so many have begun to wait.
    pub(crate) async fn waits(&self, count: usize) {
        self.0.subscribe().wait_for(|(began, _)| *began >= count).await.unwrap();
    }

    /// Waits until so many have been dropped.
    pub(crate) async fn wait_dropped(&self, count: usize) {
        self.0.subscribe().wait_for(|(_, dropped)| *dropped >= count).await.unwrap();
    }

    pub(crate) async fn hang(&self) {
        self.0.send_modify(|(began, _)| *began += 1);
        let _hanging = Hanging(self.clone());
        std::future::pending::<()>().await;
    }
}

impl Drop for Hanging {
    fn drop(&mut self) {
        self.0.0.send_modify(|(_, dropped)| *dropped += 1);
    }
}

impl Planner for Scripted {
    fn plan<'a>(&'a self, asked: PlanRequest<'a>) -> BoxFuture<'a, Result<Plan, PlanError>> {
        Box::pin(async move {
            let script: Value = serde_json::from_str(asked.message).unwrap_or_default();
            let plan = next(&script, asked.made.len()).cloned().unwrap_or_default();
            if plan["hang"] == true {
                self.hung.hang().await;
            }
            if let Some(reason) = plan["fail"].as_str() {
                return Err(PlanError::failed(reason));
            }
            Ok(Plan {
                step: step(&plan),
                reason: "scripted".to_owned(),
                confidence: 1.0,
                alternatives: Vec::new(),
            })
        })
    }
}

impl Answerer for Scripted {
    fn answer<'a>(
        &'a self,
        asked: &'a PlanRequest<'a>,
        _bundle: &'a ContextBundle,
        problem: Option<&'a Problem>,
    ) -> BoxStream<'a, Result<String, AnswerError>> {
        let script: Value = serde_json::from_str(asked.message).unwrap_or_default();
        let parts = &script[if problem.is_some() { "repair" } else { "answer" }];
        let parts = parts.as_array().cloned().unwrap_or_default();
        let texts: Vec<_> = parts.iter().filter_map(Value::as_str).map(|text| Ok(text.to_owned())).collect();
        stream::iter(texts).boxed()
    }
}

/// The plan that comes after so many calls.
fn next(script: &Value, made: usize) -> Option<&Value> {
    let mut left = made;
    for plan in script["plans"].as_array()? {
        let calls = plan["calls"].as_array().map_or(0, Vec::len);
        if calls == 0 || left < calls {
            return Some(plan);
        }
        left -= calls;
    }
    None
}

fn step(plan: &Value) -> Step {
    if let Some(calls) = plan["calls"].as_array() {
        return Step::Call(calls.iter().map(planned_call).collect());
    }
    let text = |key: &str| plan[key].as_str().map(ToOwned::to_owned);
    text("clarify").map(Step::Clarify).or_else(|| text("refuse").map(Step::Refuse)).unwrap_or(Step::Answer)
}

fn planned_call(call: &Value) -> PlannedCall {
    PlannedCall {
        tool: call["tool"].as_str().unwrap_or_default().to_owned(),
        arguments: call["arguments"].as_object().cloned().unwrap_or_default(),
        reason: String::new(),
        by_model: None,
    }
}
