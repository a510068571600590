//! Drill down and filter: what the tools say of each candidate (spec 004 §1.1).

use serde_json::{Map, Value, json};

use super::{
    context::{Context, at},
    select::Candidate,
};
use toolwire_agent::job::CompletedCall;
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

/// How many calls a candidate takes in either step.
const DRILLS: usize = 3;
const FILTERS: usize = 3;

pub(super) async fn down(context: &mut Context<'_>, candidates: Vec<Candidate>) -> Vec<Evaluated> {
    let all = candidates.len() * DRILLS;
    let mut looked = Vec::new();
    for (index, candidate) in candidates.into_iter().enumerate() {
        let percent = |part| at::share(at::PICKED, at::DRILLED, index * DRILLS + part, all);
        let symbol = candidate.symbol.clone();
        let thesis =
            one(context, percent(0), "drill_down", "get_stock_thesis", &json!({"query": symbol})).await;
        let technicals =
            one(context, percent(1), "drill_down", "get_technicals", &json!({"symbol": symbol})).await;
        let fundamentals =
            one(context, percent(2), "drill_down", "get_fundamentals", &json!({"symbol": symbol})).await;
        looked.push(Evaluated {
            candidate,
            thesis,
            technicals,
            fundamentals,
            wait_zone: None,
            forbidden: None,
        });
    }
    looked
}

/// Holds each candidate against the user's rules.
pub(super) async fn filter(context: &mut Context<'_>, looked: &mut [Evaluated], profile: Option<&str>) {
    let all = looked.len() * FILTERS;
    for (index, looked) in looked.iter_mut().enumerate() {
        let percent = |part| at::share(at::DRILLED, at::FILTERED, index * FILTERS + part, all);
        if context.is_stopped() {
            break;
        }
        let symbol = looked.candidate.symbol.clone();
        context.say(percent(0), "filter", &format!("Agent analyzing {symbol}..."), "").await;
        let (mut rules, symbol) = (json!({"symbol": symbol}), json!({"symbol": symbol}));
        if let Some(profile) = profile {
            rules["profile"] = json!(profile);
        }
        looked.wait_zone = one(context, percent(1), "filter", "check_wait_zone", &symbol).await;
        looked.forbidden = one(context, percent(2), "filter", "check_forbidden", &rules).await;
    }
}

/// Calls a tool and says what came out (spec 004 §8.3).
async fn one(
    context: &mut Context<'_>,
    percent: u32,
    step: &str,
    tool: &str,
    arguments: &Value,
) -> Option<CompletedCall> {
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
    let called = context.call(&Target::Tool(tool.to_owned()), arguments).await?;
    context.say(percent, step, &format!("🔧 {}", called.words()), &called.call_id).await;
    called.data().is_some().then_some(called)
}

impl Evaluated {
    /// The results that there are, in the order in which they were asked for.
    pub(super) fn results(&self) -> impl Iterator<Item = &CompletedCall> {
        let all = [&self.thesis, &self.technicals, &self.fundamentals, &self.wait_zone, &self.forbidden];
        all.into_iter().flatten()
    }
}
