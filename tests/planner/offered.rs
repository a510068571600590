//! The service with its bundled domains and embedded data, and what its planner decides.

use std::{collections::HashMap, fs, sync::Arc};

use chrono::NaiveDate;
use serde_json::Value;
use tempfile::TempDir;
use toolwire::{
    agent::service::turns::Turns,
    config::Config,
    domains,
    engine::registry::{RegisteredTool, ToolType},
    planner::{Exchange, Offer, Plan, PlanRequest, Step, embedded::Embedded},
    server::app::App,
};

/// What is offered to a turn without a task.
pub(crate) struct Bench {
    pub(crate) offer: Offer,
    names: HashMap<String, String>,
    _state: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let state = TempDir::new().expect("a temporary directory");
        let mut config = Config::default();
        config.state.dir = Some(state.path().to_owned());
        let app = App::build(&config, &domains::bundled()).unwrap_or_else(|error| panic!("{error}"));
        let user = config.data.default_user.clone();
        let offer =
            app.part::<Turns>().agent().parts().offers.of(&app.registry.snapshot(), &user, is_offered);
        Self { offer, names: names(), _state: state }
    }

    /// What is decided after the given earlier messages, each of them planned in its turn.
    pub(crate) fn decide(&self, earlier: &[&str], message: &str) -> Plan {
        let mut history = Vec::new();
        for said in earlier {
            let (calls, answered) = match self.plan(&history, said).step {
                Step::Call(calls) | Step::Offer { calls, .. } => (calls, String::new()),
                Step::Clarify(question) => (Vec::new(), question),
                _ => (Vec::new(), String::new()),
            };
            let is_open = calls.is_empty();
            history.push(Exchange { said: (*said).to_owned(), answered, calls, is_open });
        }
        self.plan(&history, message)
    }

    /// What is decided after the given exchanges.
    pub(crate) fn plan(&self, history: &[Exchange], message: &str) -> Plan {
        let (made, account, today) = (&[], None, today());
        Embedded::decide(&PlanRequest { message, account, history, made, offer: &self.offer, today })
    }

    /// What tools take for a name, in small letters.
    pub(crate) fn value_of(&self, name: &str) -> String {
        let name = name.to_lowercase();
        self.names.get(&name).cloned().unwrap_or(name)
    }

    pub(crate) fn tool(&self, name: &str) -> Arc<RegisteredTool> {
        Arc::clone(self.offer.get(name).unwrap_or_else(|| panic!("{name} is not offered")))
    }
}

fn today() -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 1, 16).expect("a date")
}

/// What tools take for each name in the data, by the name in small letters.
fn names() -> HashMap<String, String> {
    let read = |path: &str| fs::read_to_string(path).expect("readable");
    let json = |path: &str| serde_json::from_str::<Value>(&read(path)).expect("JSON");
    let mut all = HashMap::new();
    for lexicon in [json("data/brokerage/lexicon.json"), json("data/research/lexicon.json")] {
        for named in lexicon["names"].as_array().expect("names") {
            let value = named["value"].as_str().expect("a value").to_lowercase();
            let texts = ["names", "words"].into_iter().filter_map(|key| named[key].as_array()).flatten();
            all.extend(texts.filter_map(Value::as_str).map(|text| (text.to_lowercase(), value.clone())));
        }
    }
    for stock in json("data/research/universe.json")["stocks"].as_array().expect("stocks") {
        let (symbol, name) =
            (stock["symbol"].as_str().expect("a symbol"), stock["name"].as_str().expect("a name"));
        all.insert(name.to_lowercase(), symbol.to_lowercase());
    }
    all
}

/// Function tools that need no workspace.
fn is_offered(tool: &RegisteredTool) -> bool {
    let definition = &tool.definition;
    let needs_workspace = definition.tags.iter().any(|tag| tag == "orchestration");
    definition.kind == ToolType::Function && (!needs_workspace || definition.name.as_str() == "search_web")
}
