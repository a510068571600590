//! Conversations over gRPC: the events of a turn, what a repeat gets, pauses, cancellation, and whose turns are whose.
//! What is planned and answered is a script, which the message itself is.

mod absent;
mod bad_input;
mod by_model;
mod cli;
mod conditions;
mod consent;
mod declared;
mod discovery;
mod events;
mod injections;
mod job_lists;
mod jobs;
mod leaving;
mod lies;
mod long_messages;
mod native;
mod pausing;
mod prompted;
mod prompts;
mod read_on;
mod repeats;
mod script;
mod spending;
mod survived;
mod users;

use crate::support::assert_refused;
use std::sync::Arc;

use serde_json::{Value, json};
use tonic::{Code, Request, Status, Streaming, transport::Channel};
use tonic_types::StatusExt;
use toolwire::{
    agent::{Agent, Mode, Parts, service::turns::Turns},
    config::Config,
    contract::proto::{
        agent::v1::{
            CancelTurnRequest, ChatRequest, ChatResponse, ChatStreamRequest, ChatStreamResponse,
            GetTurnRequest, ListTurnsRequest, Reply, Resume, Turn, TurnEvent, TurnInput,
            agent_service_client::AgentServiceClient, cancel_turn_request::Which, chat_response,
            turn_event::Event, turn_input::Say,
        },
        v1::{ResultFormat, ToolContext},
    },
    server::app::App,
    tool::context::RequestId,
};

use crate::{
    agent::script::{Hung, Scripted},
    support::server::{Server, config},
};

/// The answer if no call was made, because the model failed.
const MODEL_FAILED: &str = "I could not retrieve the data needed to answer. Nothing is wrong with the question: ask \
                            again later.";

/// A server whose agent does what messages say.
struct House {
    server: Server,
    /// What planners wait in for ever.
    hung: Hung,
    _state: tempfile::TempDir,
}

/// One user's conversations.
#[derive(Clone)]
struct Person {
    agent: AgentServiceClient<Channel>,
    channel: Channel,
    name: String,
}

impl House {
    fn new() -> Self {
        Self::with(Mode::Native, |_| ())
    }

    fn with(mode: Mode, change: impl FnOnce(&mut Config)) -> Self {
        Self::changed(mode, change, |_| ())
    }

    fn changed(mode: Mode, change: impl FnOnce(&mut Config), rewire: impl FnOnce(&mut App)) -> Self {
        let hung = Hung::default();
        let script = Arc::new(Scripted { hung: hung.clone() });
        let replace = |parts| Parts { mode, planner: script.clone(), answerer: script, ..parts };
        Self { hung, ..Self::of(change, replace, rewire) }
    }

    /// A server whose agent is made of other parts.
    fn of(
        change: impl FnOnce(&mut Config),
        replace: impl FnOnce(Parts) -> Parts,
        rewire: impl FnOnce(&mut App),
    ) -> Self {
        let state = tempfile::tempdir().unwrap();
        let mut config = config();
        config.state.dir = Some(state.path().to_owned());
        config.confirmations.own_calls = true;
        change(&mut config);
        let mut app = App::build(&config, &toolwire::domains::bundled()).unwrap();
        let agent = Agent::new(replace(app.part::<Turns>().agent().parts().clone()));
        app.set_part(app.part::<Turns>().with_agent(agent));
        rewire(&mut app);
        Self { server: Server::of(app, config), hung: Hung::default(), _state: state }
    }

    async fn person(&self, name: &str) -> Person {
        let channel = self.server.channel().await;
        Person { agent: AgentServiceClient::new(channel.clone()), channel, name: name.to_owned() }
    }
}

impl Person {
    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        request.metadata_mut().insert("x-toolwire-user", self.name.parse().unwrap());
        request
    }

    async fn stream(&self, input: TurnInput) -> Result<Streaming<ChatStreamResponse>, Status> {
        let request = self.request(ChatStreamRequest { input: Some(input) });
        Ok(self.agent.clone().chat_stream(request).await?.into_inner())
    }

    /// Every event of a turn, and the status if it ends with one.
    async fn events(&self, input: TurnInput) -> (Vec<TurnEvent>, Option<Status>) {
        let mut stream = match self.stream(input).await {
            Ok(stream) => stream,
            Err(status) => return (Vec::new(), Some(status)),
        };
        let mut events = Vec::new();
        loop {
            match stream.message().await {
                Ok(Some(response)) => events.push(response.event.unwrap()),
                Ok(None) => return (events, None),
                Err(status) => return (events, Some(status)),
            }
        }
    }

    async fn chat(&self, input: TurnInput) -> Result<ChatResponse, Status> {
        Ok(self.agent.clone().chat(self.request(ChatRequest { input: Some(input) })).await?.into_inner())
    }

    /// The reply to a message.
    async fn reply(&self, input: TurnInput) -> Reply {
        match self.chat(input).await.unwrap().end {
            Some(chat_response::End::Reply(reply)) => reply,
            other => panic!("{other:?}"),
        }
    }

    async fn turn(&self, turn_id: &str) -> Result<Turn, Status> {
        let request = self.request(GetTurnRequest { turn_id: turn_id.to_owned() });
        Ok(self.agent.clone().get_turn(request).await?.into_inner().turn.unwrap())
    }

    async fn turns(&self, session_id: &str) -> Vec<Turn> {
        let request = self.request(ListTurnsRequest { session_id: session_id.to_owned() });
        let mut stream = self.agent.clone().list_turns(request).await.unwrap().into_inner();
        let mut turns = Vec::new();
        while let Some(response) = stream.message().await.unwrap() {
            turns.push(response.turn.unwrap());
        }
        turns
    }

    async fn cancel(&self, which: Which) -> Result<bool, Status> {
        let request = self.request(CancelTurnRequest { which: Some(which) });
        Ok(self.agent.clone().cancel_turn(request).await?.into_inner().cancelled)
    }
}

/// A message that is a script.
fn says(script: &Value) -> TurnInput {
    TurnInput {
        say: Some(Say::Message(script.to_string())),
        result_format: ResultFormat::Json.into(),
        ..Default::default()
    }
}

fn within(session: &str, input: TurnInput) -> TurnInput {
    TurnInput { context: Some(ToolContext { session_id: session.to_owned(), ..Default::default() }), ..input }
}

fn resumes(turn_id: &str) -> TurnInput {
    let say = Some(Say::Resume(Resume { turn_id: turn_id.to_owned() }));
    TurnInput { say, result_format: ResultFormat::Json.into(), ..Default::default() }
}

fn new_id() -> String {
    RequestId::generate().to_string()
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({"tool": tool, "arguments": arguments})
}

/// A question of Apple's price, answered.
fn quotes() -> Value {
    json!({"plans": [{"calls": [call("get_quotes", &json!({"symbol": "AAPL"}))]}], "answer": ["It is ", "193.12."]})
}

/// The last event as a reply.
#[track_caller]
fn last(events: &[TurnEvent]) -> &Reply {
    match &events.last().expect("an event").event {
        Some(Event::Final(reply)) => reply,
        other => panic!("{other:?}"),
    }
}

fn answer(reply: &Reply) -> &str {
    &reply.response.as_ref().unwrap().answer_markdown
}
