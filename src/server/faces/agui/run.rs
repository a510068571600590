//! A turn as a run of AG-UI: a pure state machine from the turn's events to the protocol's.
//!
//! For any sequence of events: `RUN_STARTED` is first, every start has its end, and one terminal event is last. Not
//! here: where turns come from (`stream`), and how events travel.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::{
    event::{Assistant, Event, Tool},
    outcome,
    transcript::Transcript,
};
use crate::faces::spec_routes::json;
use toolwire_contract::{
    Refusal, TurnRefusal,
    proto::{
        agent::v1::{
            CallAction, Paused, PendingCall, Reply, ToolCallFinished, ToolCallStarted, TurnEvent,
            tool_call_finished::Outcome, turn_event::Event as Told,
        },
        v1::Progress,
    },
    status,
};

/// What a run knows from the beginning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names {
    /// The conversation, as its caller names it.
    pub thread_id: String,
    /// The run, as its caller names it.
    pub run_id: String,
    /// The messages that the caller has; `None` where they are not given back.
    pub messages: Option<Vec<Value>>,
    /// The calls that the paused run already announced: only their results follow.
    pub known: HashSet<String>,
}

#[derive(Clone, Debug)]
pub struct Run {
    names: Names,
    turn_id: String,
    step: Option<&'static str>,
    /// The names under which calls are announced, by their own.
    calls: HashMap<String, String>,
    is_answering: bool,
    has_answered: bool,
    is_over: bool,
    transcript: Transcript,
    told: Vec<Event>,
}

impl Run {
    /// A run that has just begun.
    pub fn new(names: Names) -> Self {
        let started = Event::RunStarted { thread_id: names.thread_id.clone(), run_id: names.run_id.clone() };
        Self {
            names,
            turn_id: String::new(),
            step: None,
            calls: HashMap::new(),
            is_answering: false,
            has_answered: false,
            is_over: false,
            transcript: Transcript::default(),
            told: vec![started],
        }
    }

    /// What is to be sent and was not yet.
    pub fn take(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.told)
    }

    /// Whether nothing more will come.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The messages that this run has made.
    pub fn messages(&self) -> &[Value] {
        self.transcript.messages()
    }

    /// The turn says something. Its data is JSON text.
    pub fn hear(&mut self, event: TurnEvent) {
        // One terminal event is last: what comes later is dropped.
        if self.is_over {
            return;
        }
        self.turn_id = event.turn_id;
        match event.event {
            Some(Told::Started(_)) => self.enter("plan"),
            Some(Told::Plan(plan)) => {
                self.enter("plan");
                self.custom("toolwire.plan", json::message(&plan));
            }
            Some(Told::ToolCallStarted(call)) => self.start_call(call),
            Some(Told::ToolCallProgress(it)) => {
                let id = self.name_of(&it.call_id);
                self.goes_on(&id.clone(), json!({"toolCallId": id}), it.progress.unwrap_or_default());
            }
            Some(Told::ToolCallFinished(call)) => self.end_call(call),
            Some(Told::AnswerDelta(delta)) => {
                self.enter("answer");
                self.says(delta.text);
            }
            Some(Told::Validation(it)) => {
                self.enter("validate");
                self.custom("toolwire.validation", json::message(&it));
            }
            Some(Told::Alert(alert)) => self.custom("toolwire.alert", json::message(&alert)),
            Some(Told::Progress(progress)) => {
                let id = self.turn_id.clone();
                self.goes_on(&id, json!({}), progress);
            }
            // They are in the state at the end.
            Some(Told::Citations(_)) | None => {}
            Some(Told::Paused(paused)) => self.pause(&paused),
            Some(Told::Final(reply)) => self.finish(&reply),
        }
    }

    /// The turn ends without a word of its own.
    pub fn fail(&mut self, refusal: &Refusal) {
        let code = match refusal {
            Refusal::Turn(TurnRefusal::Cancelled) => "STOPPED",
            other => status::reason_of(other),
        };
        self.end(|_| Event::RunError { message: refusal.to_string(), code: code.to_owned() });
    }

    fn enter(&mut self, step_name: &'static str) {
        if self.step == Some(step_name) {
            return;
        }
        self.leave();
        self.step = Some(step_name);
        self.tell(Event::StepStarted { step_name });
    }

    fn leave(&mut self) {
        if let Some(step_name) = self.step.take() {
            self.tell(Event::StepFinished { step_name });
        }
    }

    fn start_call(&mut self, call: ToolCallStarted) {
        self.enter("execute");
        // A call that may wait for a person has another name when it is made again, and the same `request_id`.
        let id = if call.request_id.is_empty() { call.call_id.clone() } else { call.request_id };
        self.calls.insert(call.call_id, id.clone());
        self.show(id, call.tool, call.arguments_json);
    }

    /// Tells of a call, unless the caller knows of it.
    fn show(&mut self, tool_call_id: String, tool_call_name: String, arguments: String) {
        if !self.names.known.insert(tool_call_id.clone()) {
            return;
        }
        self.tell(Event::ToolCallStart { tool_call_id: tool_call_id.clone(), tool_call_name });
        self.tell(Event::ToolCallArgs { tool_call_id: tool_call_id.clone(), delta: arguments });
        self.tell(Event::ToolCallEnd { tool_call_id });
    }

    fn end_call(&mut self, call: ToolCallFinished) {
        let is_made_again = call.action() == CallAction::Retried;
        let Some(Outcome::Result(result)) = call.outcome else { return };
        let tool_call_id = self.name_of(&call.call_id);
        // The same call follows under the same name: its end is announced.
        if is_made_again && tool_call_id != call.call_id {
            return;
        }
        let message_id = format!("{tool_call_id}:result");
        let content = outcome::of_result(&result);
        self.tell(Event::ToolCallResult { message_id, tool_call_id, content, role: Tool::Tool });
    }

    fn name_of(&self, call_id: &str) -> String {
        self.calls.get(call_id).cloned().unwrap_or_else(|| call_id.to_owned())
    }

    fn goes_on(&mut self, of: &str, mut content: Value, progress: Progress) {
        content["message"] = progress.message.into();
        content["fraction"] = progress.fraction.into();
        let message_id = format!("{of}:progress");
        let activity_type = "toolwire.progress";
        self.tell(Event::ActivitySnapshot { message_id, activity_type, content, replace: true });
    }

    fn custom(&mut self, name: &'static str, value: Value) {
        self.tell(Event::Custom { name, value });
    }

    fn says(&mut self, delta: String) {
        if delta.is_empty() {
            return;
        }
        let message_id = format!("{}:answer", self.turn_id);
        if !self.is_answering {
            self.is_answering = true;
            self.tell(Event::TextMessageStart { message_id: message_id.clone(), role: Assistant::Assistant });
        }
        self.has_answered = true;
        self.tell(Event::TextMessageContent { message_id, delta });
    }

    fn pause(&mut self, paused: &Paused) {
        for PendingCall { tool, arguments_json, confirmation_required, .. } in &paused.pending {
            let id = confirmation_required.as_ref().map(|it| it.request_id.clone()).unwrap_or_default();
            self.show(id, tool.clone(), arguments_json.clone());
        }
        let turn_id = self.turn_id.clone();
        self.end(|run| {
            run.tell(Event::StateSnapshot { snapshot: outcome::state_of_pause(&turn_id) });
            if let Some(messages) = &run.names.messages {
                let messages = messages.iter().chain(run.transcript.messages()).cloned().collect();
                run.tell(Event::MessagesSnapshot { messages });
            }
            run.finish_event(Value::Null, outcome::interrupt(paused), Vec::new())
        });
    }

    fn finish(&mut self, reply: &Reply) {
        // Of a turn that ended before, only the end is sent.
        if !self.has_answered {
            let answer = reply.response.as_ref().map(|it| it.answer_markdown.clone());
            self.says(answer.unwrap_or_default());
        }
        self.end(|run| {
            run.tell(Event::StateSnapshot { snapshot: outcome::state(reply) });
            run.finish_event(outcome::result(reply), json!({"type": "success"}), outcome::usage(reply))
        });
    }

    fn finish_event(&self, result: Value, outcome: Value, usage: Vec<Value>) -> Event {
        let Names { thread_id, run_id, .. } = self.names.clone();
        Event::RunFinished { thread_id, run_id, result, outcome, usage }
    }

    /// Ends what is open, and then the run.
    fn end(&mut self, terminal: impl FnOnce(&mut Self) -> Event) {
        if self.is_over {
            return;
        }
        if std::mem::take(&mut self.is_answering) {
            let message_id = format!("{}:answer", self.turn_id);
            self.tell(Event::TextMessageEnd { message_id });
        }
        self.leave();
        let terminal = terminal(self);
        self.tell(terminal);
        self.is_over = true;
    }

    fn tell(&mut self, event: Event) {
        self.transcript.take(&event);
        self.told.push(event);
    }
}

#[cfg(test)]
mod tests;
