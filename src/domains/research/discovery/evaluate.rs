//! Drill down and filter: the results of the tools for each candidate.

use serde_json::{Map, Value, json};

use super::{
    context::{Context, at},
    request::Profile,
    select::Candidate,
};
use toolwire_agent_api::CompletedCall;
use toolwire_engine::pipeline::Target;

/// A candidate with what was found of it.
#[derive(Debug)]
pub(super) struct Evaluated {
    pub(super) candidate: Candidate,
    pub(super) thesis: Option<CompletedCall>,
    pub(super) technicals: Option<CompletedCall>,
    pub(super) fundamentals: Option<CompletedCall>,
    pub(super) wait_zone: Option<CompletedCall>,
    pub(super) forbidden: Option<CompletedCall>,
}

/// Number of calls for each candidate in either step.
const DRILLS: usize = 3;
const FILTERS: usize = 3;

/// Calls the tools that describe each candidate.
pub(super) async fn drill_down(context: &mut Context<'_>, candidates: Vec<Candidate>) -> Vec<Evaluated> {
    let all = candidates.len() * DRILLS;
    let mut evaluated = Vec::new();
    for (index, candidate) in candidates.into_iter().enumerate() {
        let percent = |part| at::share(at::PICKED, at::DRILLED, index * DRILLS + part, all);
        let symbol = candidate.symbol.clone();
        let thesis =
            call(context, percent(0), "drill_down", "get_stock_thesis", &json!({"query": symbol})).await;
        let technicals =
            call(context, percent(1), "drill_down", "get_technicals", &json!({"symbol": symbol})).await;
        let fundamentals =
            call(context, percent(2), "drill_down", "get_fundamentals", &json!({"symbol": symbol})).await;
        evaluated.push(Evaluated {
            candidate,
            thesis,
            technicals,
            fundamentals,
            wait_zone: None,
            forbidden: None,
        });
    }
    evaluated
}

/// Holds each candidate against the user's rules.
pub(super) async fn filter(context: &mut Context<'_>, evaluated: &mut [Evaluated], profile: &Profile) {
    let all = evaluated.len() * FILTERS;
    for (index, evaluated) in evaluated.iter_mut().enumerate() {
        let percent = |part| at::share(at::DRILLED, at::FILTERED, index * FILTERS + part, all);
        if context.is_stopped() {
            break;
        }
        let symbol = evaluated.candidate.symbol.clone();
        context.report(percent(0), "filter", &format!("Agent analyzing {symbol}..."), "").await;
        let rules = |profile: &Option<String>| match profile {
            Some(profile) => json!({"symbol": symbol, "profile": profile}),
            None => json!({"symbol": symbol}),
        };
        let (wait_zone, forbidden) = (rules(&profile.wait_zone), rules(&profile.forbidden));
        evaluated.wait_zone = call(context, percent(1), "filter", "check_wait_zone", &wait_zone).await;
        evaluated.forbidden = call(context, percent(2), "filter", "check_forbidden", &forbidden).await;
    }
}

/// Calls a tool and reports what came of it.
async fn call(
    context: &mut Context<'_>,
    percent: u32,
    step: &str,
    tool: &str,
    arguments: &Value,
) -> Option<CompletedCall> {
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
    let called = context.call(&Target::Tool(tool.to_owned()), arguments).await?;
    context.report(percent, step, &format!("🔧 {}", called.words()), &called.call_id).await;
    called.data().is_some().then_some(called)
}

impl Evaluated {
    /// The results that there are, in the order of the calls.
    pub(super) fn results(&self) -> impl Iterator<Item = &CompletedCall> {
        let all = [&self.thesis, &self.technicals, &self.fundamentals, &self.wait_zone, &self.forbidden];
        all.into_iter().flatten()
    }
}
