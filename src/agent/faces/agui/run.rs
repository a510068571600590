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
            tool_call_finished::Outcome, turn_event::Event as AgentEvent,
        },
        v1::Progress,
    },
    status,
};

/// The names of a run and of its conversation, and what its caller has of it already.
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
    /// The identifiers under which calls are announced, by their own.
    calls: HashMap<String, String>,
    is_answering: bool,
    has_answered: bool,
    is_over: bool,
    transcript: Transcript,
    /// The events that are not sent yet.
    pending: Vec<Event>,
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
            pending: vec![started],
        }
    }

    /// Takes the events that are to be sent.
    pub fn take(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.pending)
    }

    /// Whether nothing more will come.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The messages that this run has made.
    pub fn messages(&self) -> &[Value] {
        self.transcript.messages()
    }

    /// Applies an event of the turn, whose data is JSON text.
    pub fn apply(&mut self, event: TurnEvent) {
        // One terminal event is last: what comes later is dropped.
        if self.is_over {
            return;
        }
        self.turn_id = event.turn_id;
        match event.event {
            Some(AgentEvent::Started(_)) => self.enter_step("plan"),
            Some(AgentEvent::Plan(plan)) => {
                self.enter_step("plan");
                self.custom("toolwire.plan", json::message(&plan));
            }
            Some(AgentEvent::ToolCallStarted(call)) => self.start_call(call),
            Some(AgentEvent::ToolCallProgress(it)) => {
                let id = self.announced_id(&it.call_id);
                self.show_progress(&id.clone(), json!({"toolCallId": id}), it.progress.unwrap_or_default());
            }
            Some(AgentEvent::ToolCallFinished(call)) => self.end_call(call),
            Some(AgentEvent::AnswerDelta(delta)) => {
                self.enter_step("answer");
                self.append_answer(delta.text);
            }
            Some(AgentEvent::Validation(it)) => {
                self.enter_step("validate");
                self.custom("toolwire.validation", json::message(&it));
            }
            Some(AgentEvent::Alert(alert)) => self.custom("toolwire.alert", json::message(&alert)),
            Some(AgentEvent::Progress(progress)) => {
                let id = self.turn_id.clone();
                self.show_progress(&id, json!({}), progress);
            }
            // The state at the end has them.
            Some(AgentEvent::Citations(_)) | None => {}
            Some(AgentEvent::Paused(paused)) => self.pause(&paused),
            Some(AgentEvent::Final(reply)) => self.finish(&reply),
        }
    }

    /// Ends the run of a turn that ended without a terminal event.
    pub fn fail(&mut self, refusal: &Refusal) {
        let code = match refusal {
            Refusal::Turn(TurnRefusal::Cancelled) => "STOPPED",
            other => status::reason_of(other),
        };
        self.end(|_| Event::RunError { message: refusal.to_string(), code: code.to_owned() });
    }

    fn enter_step(&mut self, step_name: &'static str) {
        if self.step == Some(step_name) {
            return;
        }
        self.leave_step();
        self.step = Some(step_name);
        self.emit(Event::StepStarted { step_name });
    }

    fn leave_step(&mut self) {
        if let Some(step_name) = self.step.take() {
            self.emit(Event::StepFinished { step_name });
        }
    }

    fn start_call(&mut self, call: ToolCallStarted) {
        self.enter_step("execute");
        // A call that may wait for a person is made again with another `call_id` and the same `request_id`.
        let id = if call.request_id.is_empty() { call.call_id.clone() } else { call.request_id };
        self.calls.insert(call.call_id, id.clone());
        self.announce(id, call.tool, call.arguments_json);
    }

    /// Announces a call, unless its caller knows it already.
    fn announce(&mut self, tool_call_id: String, tool_call_name: String, arguments: String) {
        if !self.names.known.insert(tool_call_id.clone()) {
            return;
        }
        self.emit(Event::ToolCallStart { tool_call_id: tool_call_id.clone(), tool_call_name });
        self.emit(Event::ToolCallArgs { tool_call_id: tool_call_id.clone(), delta: arguments });
        self.emit(Event::ToolCallEnd { tool_call_id });
    }

    fn end_call(&mut self, call: ToolCallFinished) {
        let is_made_again = call.action() == CallAction::Retried;
        let Some(Outcome::Result(result)) = call.outcome else { return };
        let tool_call_id = self.announced_id(&call.call_id);
        // It is made again under the same identifier. A client expects one result of a call: that of the repeat.
        if is_made_again && tool_call_id != call.call_id {
            return;
        }
        let message_id = format!("{tool_call_id}:result");
        let content = outcome::of_result(&result);
        self.emit(Event::ToolCallResult { message_id, tool_call_id, content, role: Tool::Tool });
    }

    /// The identifier under which a call was announced.
    fn announced_id(&self, call_id: &str) -> String {
        self.calls.get(call_id).cloned().unwrap_or_else(|| call_id.to_owned())
    }

    fn show_progress(&mut self, of: &str, mut content: Value, progress: Progress) {
        content["message"] = progress.message.into();
        content["fraction"] = progress.fraction.into();
        let message_id = format!("{of}:progress");
        let activity_type = "toolwire.progress";
        self.emit(Event::ActivitySnapshot { message_id, activity_type, content, replace: true });
    }

    fn custom(&mut self, name: &'static str, value: Value) {
        self.emit(Event::Custom { name, value });
    }

    fn append_answer(&mut self, delta: String) {
        if delta.is_empty() {
            return;
        }
        let message_id = format!("{}:answer", self.turn_id);
        if !self.is_answering {
            self.is_answering = true;
            self.emit(Event::TextMessageStart { message_id: message_id.clone(), role: Assistant::Assistant });
        }
        self.has_answered = true;
        self.emit(Event::TextMessageContent { message_id, delta });
    }

    fn pause(&mut self, paused: &Paused) {
        for PendingCall { tool, arguments_json, confirmation_required, .. } in &paused.pending {
            let id = confirmation_required.as_ref().map(|it| it.request_id.clone()).unwrap_or_default();
            self.announce(id, tool.clone(), arguments_json.clone());
        }
        let turn_id = self.turn_id.clone();
        self.end(|run| {
            run.emit(Event::StateSnapshot { snapshot: outcome::state_of_pause(&turn_id) });
            if let Some(messages) = &run.names.messages {
                let messages = messages.iter().chain(run.transcript.messages()).cloned().collect();
                run.emit(Event::MessagesSnapshot { messages });
            }
            run.finish_event(Value::Null, outcome::interrupt(paused), Vec::new())
        });
    }

    fn finish(&mut self, reply: &Reply) {
        // A turn that ended before this run has no deltas: its reply has the answer.
        if !self.has_answered {
            let answer = reply.response.as_ref().map(|it| it.answer_markdown.clone());
            self.append_answer(answer.unwrap_or_default());
        }
        self.end(|run| {
            run.emit(Event::StateSnapshot { snapshot: outcome::state(reply) });
            run.finish_event(outcome::result(reply), json!({"type": "success"}), outcome::usage(reply))
        });
    }

    fn finish_event(&self, result: Value, outcome: Value, usage: Vec<Value>) -> Event {
        let Names { thread_id, run_id, .. } = self.names.clone();
        Event::RunFinished { thread_id, run_id, result, outcome, usage }
    }

    /// Ends the open message and step, then the run.
    fn end(&mut self, terminal: impl FnOnce(&mut Self) -> Event) {
        if self.is_over {
            return;
        }
        if std::mem::take(&mut self.is_answering) {
            let message_id = format!("{}:answer", self.turn_id);
            self.emit(Event::TextMessageEnd { message_id });
        }
        self.leave_step();
        let terminal = terminal(self);
        self.emit(terminal);
        self.is_over = true;
    }

    fn emit(&mut self, event: Event) {
        self.transcript.take(&event);
        self.pending.push(event);
    }
}

#[cfg(test)]
mod tests;
