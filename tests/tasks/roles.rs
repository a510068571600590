//! `[agent.roles.NAME]`: the child of a delegation runs with its role's prompt, tools and model.

use std::sync::Arc;

use crate::support::state;
use toolwire::{
    agent::service::runs::Runs,
    config::{
        AgentAnswerer, AgentModel, AgentPlanner, AgentRole, AgentRoles, Config, ConfiguredModel, Models,
        Provider, ToolPattern,
    },
    contract::proto::agent::v1::{TurnOutcome, turn_event::Event},
    server::app::App,
    sources::models::scripted::{Scripted, calls, text},
};

use super::{
    runs::{call, reply, seen},
    *,
};

/// A server that asks models of which none is there: scripts take their places.
fn config_with(roles: Vec<AgentRole>) -> (Config, tempfile::TempDir) {
    let state = tempfile::tempdir().unwrap();
    let mut config = config();
    state::keep_in(&mut config.state, state.path());
    config.models = Models(vec![ConfiguredModel::new("m", Provider::Ollama, "m")]);
    config.agent_model = AgentModel {
        model: Some("m".to_owned()),
        planner: AgentPlanner::Native,
        answerer: AgentAnswerer::Model,
        fallback: false,
    };
    config.agent_roles = AgentRoles(roles);
    (config, state)
}

fn analyst(tools: &[&str]) -> AgentRole {
    let patterns = tools.iter().map(|tools| ToolPattern::try_from((*tools).to_owned()).unwrap());
    AgentRole { name: "analyst".to_owned(), prompt: None, tools: Some(patterns.collect()), model: None }
}

#[tokio::test]
async fn a_child_runs_with_the_prompt_the_tools_and_the_model_of_its_role() {
    let (config, _state) = config_with(vec![analyst(&["write_*"])]);
    let mut app = App::build(&config, &toolwire::domains::bundled()).unwrap();
    let main = Scripted::by(|request, _| match seen(request).0 {
        0 => calls([call("route_to_analyst", json!({"request": "Explain Q3"}))]),
        _ => text("Explained."),
    });
    // It calls what it was not offered, which there is; and then what it was.
    let small = Scripted::by(|request, _| match seen(request).0 {
        0 => calls([call("get_quotes", json!({"symbol": "AAPL"}))]),
        _ => calls([call("handoff", json!({"result": {"done": true}}))]),
    });
    let runs = app.part::<Runs>().with_model(Some(Arc::new(main.clone())));
    app.set_part(runs.with_role_model("analyst", Arc::new(small.clone())));
    let server = Server::of(app, config);
    let person = person(&server, "riley").await;
    let root = person.create("Explain").await;
    let events = person.runs(&root.task).await.unwrap();
    assert_eq!(reply(&events).outcome(), TurnOutcome::Answered, "{events:?}");

    assert!(main.requests().iter().all(|request| seen(request).1 == "root"), "the analyst is another model");
    let asked = small.requests();
    assert_eq!(asked.len(), 2);
    for request in &asked {
        assert_eq!(seen(request).1, "analyst");
        assert!(request.system.contains("You read, compare and explain data"), "{}", request.system);
        let tools = request.tools.as_ref().unwrap().as_array().unwrap();
        let mut names: Vec<_> = tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
        names.sort_unstable();
        assert_eq!(names, ["handoff", "write_file"]);
    }
    assert!(
        !main.requests()[0].system.contains("You read, compare"),
        "a root without a role is told nothing more"
    );

    // To the analyst there is no such tool: it is told so, and nothing was called.
    let child = events.iter().map(|it| &it.task_id).find(|id| !id.is_empty() && **id != root.task).unwrap();
    let timeline = person.timeline(child).await;
    let told = format!("{timeline:?}");
    assert!(told.contains("get_quotes") && told.contains("NotFound") && !told.contains("193.12"), "{told}");
}

#[tokio::test]
async fn a_prompt_that_is_not_there_is_refused_at_start() {
    let role = AgentRole { prompt: Some("careful".to_owned()), ..analyst(&["*"]) };
    let (config, _state) = config_with(vec![role]);
    let error = App::build(&config, &toolwire::domains::bundled()).unwrap_err().to_string();
    assert!(error.contains("prompts/roles/careful.md: the settings of agent.roles name it"), "{error}");
}

#[tokio::test]
async fn a_role_may_have_a_prompt_of_its_own_on_disk() {
    let data = crate::support::data_directory();
    let prompt = data.path().join("prompts/roles/careful.md");
    crate::support::save(&prompt, "Count twice. Today is {{ today }}.");
    let role = AgentRole { prompt: Some("careful".to_owned()), tools: None, ..analyst(&[]) };
    let (mut config, _state) = config_with(vec![role]);
    config.data.dir = Some(data.path().to_owned());
    let mut app = App::build(&config, &toolwire::domains::bundled()).unwrap();
    let model = Scripted::by(|_, _| text("Twelve."));
    app.set_part(app.part::<Runs>().with_model(Some(Arc::new(model.clone()))));
    let server = Server::of(app, config);
    let person = person(&server, "riley").await;
    let root = person.create_for("analyst", "Count").await;
    let events = person.runs(&root.task).await.unwrap();
    assert!(matches!(events.last().unwrap().event, Some(Event::Final(_))), "{events:?}");
    let asked = &model.requests()[0];
    assert!(asked.system.contains("Count twice. Today is 20"), "{}", asked.system);
    assert!(asked.tools.as_ref().unwrap().to_string().contains("get_quotes"), "no tools are left out");
}
