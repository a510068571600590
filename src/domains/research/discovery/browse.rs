//! Browse: first what the user holds, then where ideas come from, each once.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use strum::VariantArray as _;

use super::{
    context::{Context, at},
    request::{IdeaSource, Request},
};
use crate::sources::universe::normal;
use toolwire_agent_api::CompletedCall;
use toolwire_engine::pipeline::Target;

/// The intent of the tool that lists what the user holds.
const HOLDINGS: &str = "positions_list";

#[derive(Debug, Default)]
pub(super) struct Ideas {
    /// The symbols that the user holds.
    pub(super) held: BTreeSet<String>,
    /// Symbols, by where they were listed.
    pub(super) symbols: Vec<(IdeaSource, String)>,
    /// Names of companies that lists gave.
    pub(super) names: BTreeMap<String, String>,
    /// Texts that may name stocks, by where they were read.
    pub(super) texts: Vec<(IdeaSource, String)>,
    /// Summaries of moods and headlines.
    pub(super) moods: Vec<String>,
}

pub(super) async fn browse(context: &mut Context<'_>, request: &Request) -> Ideas {
    let mut browsed = Ideas::default();
    let sources: Vec<_> =
        IdeaSource::VARIANTS.iter().copied().filter(|it| request.sources.contains(it)).collect();
    let all = sources.len() + 1;
    if let Some(called) = call(context, 1, all, &Target::Intent(HOLDINGS.to_owned()), Map::new()).await {
        browsed.held = symbols(called.data().unwrap_or(&Value::Null));
    }
    for (index, source) in sources.into_iter().enumerate() {
        let (tool, arguments) = source.call(request);
        let called = call(context, index + 2, all, &Target::Tool(tool.to_owned()), arguments).await;
        if let Some(called) = called {
            browsed.take(source, &called);
        }
    }
    browsed
}

/// Reports what is browsed, and browses it.
async fn call(
    context: &mut Context<'_>,
    part: usize,
    all: usize,
    target: &Target,
    arguments: Map<String, Value>,
) -> Option<CompletedCall> {
    if context.is_stopped() {
        return None;
    }
    if let Some(message) = context.progress_message(target, &arguments) {
        let message = format!("🔍 {}", message.replace('…', "..."));
        context.report(at::share(at::START, at::BROWSED, part, all), "browse", &message, "").await;
    }
    let called = context.call(target, arguments).await?;
    called.data().is_some().then_some(called)
}

impl IdeaSource {
    /// The tool that browses it, and the arguments.
    fn call(self, request: &Request) -> (&'static str, Map<String, Value>) {
        let (tool, arguments) = match self {
            Self::Watchlist => ("browse_watchlist", json!({})),
            Self::Screener => match &request.screen_id {
                Some(screen_id) => ("browse_screener", json!({"screen_id": screen_id})),
                None => ("browse_screener", json!({})),
            },
            Self::News => ("browse_news", json!({"category": "stocks", "limit": 25})),
            Self::Reddit => ("browse_reddit", json!({"limit": 25})),
            Self::Valuepickr => ("browse_valuepickr", json!({"limit": 25})),
        };
        (tool, arguments.as_object().cloned().unwrap_or_default())
    }
}

impl Ideas {
    fn take(&mut self, source: IdeaSource, called: &CompletedCall) {
        let Some(data) = called.data() else { return };
        let items = |key: &str| data[key].as_array().cloned().unwrap_or_default();
        let text = |item: &Value, keys: &[&str]| {
            keys.iter().filter_map(|key| item[*key].as_str()).collect::<Vec<_>>().join("\n")
        };
        match source {
            IdeaSource::Watchlist => items("items").iter().for_each(|item| self.list(source, item)),
            IdeaSource::Screener => items("stocks").iter().for_each(|item| self.list(source, item)),
            IdeaSource::News => {
                let texts = items("headlines");
                self.texts.extend(texts.iter().map(|item| (source, text(item, &["title", "summary"]))));
                self.moods.extend(called.summary().map(|summary| format!("News: {summary}.")));
            }
            IdeaSource::Reddit => {
                let texts = items("posts");
                self.texts.extend(texts.iter().map(|item| (source, text(item, &["title", "excerpt"]))));
                self.moods.extend(called.summary().map(|summary| format!("Reddit: {summary}.")));
            }
            IdeaSource::Valuepickr => {
                self.texts.extend(items("topics").iter().map(|item| (source, text(item, &["title"]))));
            }
        }
    }

    fn list(&mut self, source: IdeaSource, item: &Value) {
        let Some(symbol) = item["symbol"].as_str() else { return };
        if let Some(name) = item["name"].as_str() {
            self.names.entry(symbol.to_owned()).or_insert_with(|| name.to_owned());
        }
        self.symbols.push((source, symbol.to_owned()));
    }
}

fn symbols(data: &Value) -> BTreeSet<String> {
    let positions = data["positions"].as_array().into_iter().flatten();
    positions.filter_map(|position| position["symbol"].as_str()).map(normal).collect()
}
