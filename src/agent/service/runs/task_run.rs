//! Work on one task until it waits or ends: leases and renders it, and makes the calls of the model on its behalf.

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::json;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::{
    events,
    lease_guard::LeaseGuard,
    messages::{self, Opaques},
    run_end::{RunEnd, end_of_refusal},
    work::Work,
    worker::Worker,
};
use toolwire_contract::{ErrorCode, Refusal, arguments, redaction};
use toolwire_server::service::tasks::{Detail, Handled, LeaseTarget, LeaseWish, RenderWish};
use toolwire_sources::models::{Part, Request, ToolCall};
use toolwire_state::tasks::{
    LoopControl, NewEnd, NewMessage, OpenCall, StepRef, Task,
    entry::{Opaque, Speaker},
    life::State,
};
use toolwire_tool::context::RequestId;

/// The duration of a lease, and the interval of its renewal.
const LEASE: Duration = Duration::from_secs(30);
const RENEW: Duration = Duration::from_secs(10);

/// The holder of the lease, for people.
const HOLDER: &str = "the server's agent";

/// Maximum size of a model's answer in bytes, which is that of a message in a timeline.
const MAX_ANSWER: usize = 256 * 1024;

/// Maximum number of consecutive responses whose calls are all mistaken; the model has failed after them.
const MAX_MISTAKEN: u32 = 2;

/// Work on one task.
pub(super) struct TaskRun<'a, 'b> {
    work: &'a mut Work<'b>,
    task: Task,
    worker: Worker,
    token: u64,
    calls: u32,
    tokens: u64,
}

#[derive(Debug, Default)]
struct Answered {
    text: String,
    calls: Vec<ToolCall>,
}

impl<'a, 'b> TaskRun<'a, 'b> {
    pub(super) fn of(work: &'a mut Work<'b>, task: Task) -> Self {
        let worker = Worker::of(work, &task);
        Self { work, task, worker, token: 0, calls: 0, tokens: 0 }
    }

    /// Leases the task and works on it.
    pub(super) async fn work(mut self) -> Result<RunEnd, Refusal> {
        let (tasks, user) = (self.work.parts.tasks.clone(), self.work.context.user.clone());
        // Without a wait, since another worker may hold it for long; so there is none for a drain to end.
        let never = CancellationToken::new();
        let leased = match tasks.lease(&user, self.wish(0), &never).await {
            Ok(Some(leased)) => leased,
            Ok(None) => return Ok(RunEnd::Busy),
            Err(refusal) => return end_of_refusal(refusal),
        };
        self.token = leased.task.lease.as_ref().map_or(0, |lease| lease.token);
        self.task = leased.task;
        let held = LeaseGuard::new(&tasks, &user, &self.task.id, self.token);
        let wish = self.wish(self.token);
        let renewed = async {
            loop {
                sleep(RENEW).await;
                if tasks.lease(&user, wish.clone(), &never).await.is_err() {
                    return RunEnd::Busy;
                }
            }
        };
        // A lost lease ends the work at once: two workers must not answer the same calls.
        let ended = tokio::select! {
            ended = self.steps(leased.open_calls) => ended,
            lost = renewed => Ok(lost),
        };
        // Whatever the outcome: another worker need not wait until the lease expires.
        held.release().await;
        ended.or_else(end_of_refusal)
    }

    fn wish(&self, token: u64) -> LeaseWish {
        LeaseWish {
            wanted: LeaseTarget::Task(self.task.id.to_string()),
            holder: HOLDER.to_owned(),
            duration: Some(LEASE),
            token,
            wait: Duration::ZERO,
        }
    }

    async fn steps(&mut self, open: Vec<OpenCall>) -> Result<RunEnd, Refusal> {
        // First: the model must see the results of the calls that the last worker left open.
        if let Some(ended) = self.repeat_all(open).await? {
            return Ok(ended);
        }
        let (mut step, mut mistaken) = (self.task.newest_step, 0);
        for _ in 0..self.work.budget.max_steps {
            if let Some(ended) = self.check_state().await? {
                return Ok(ended);
            }
            // Checked before the model is asked: its answer cannot be given back.
            if self.tokens >= u64::from(self.work.budget.max_tokens) {
                return Ok(RunEnd::Spent);
            }
            let answered = match self.ask().await? {
                Ok(answered) => answered,
                Err(why) => return Ok(RunEnd::Failed(why)),
            };
            step += 1;
            self.work.spent.steps += 1;
            self.emit_plan(&answered);
            if answered.calls.is_empty() {
                return self.end(answered.text).await;
            }
            // Recorded before its calls are made, so that the next worker finds them if this one dies.
            self.record_message(step, &answered).await?;
            match self.make_calls(step, answered.calls).await? {
                StepEnd::Ended(ended) => return Ok(ended),
                StepEnd::Mistakes => mistaken += 1,
                StepEnd::Some => mistaken = 0,
            }
            if mistaken >= MAX_MISTAKEN {
                return Ok(RunEnd::Failed(
                    "the model calls tools in ways that they cannot be called".to_owned(),
                ));
            }
        }
        Ok(RunEnd::Spent)
    }

    /// The end of the work, if the task cannot continue: another process may have changed it.
    async fn check_state(&self) -> Result<Option<RunEnd>, Refusal> {
        let task = self.work.parts.tasks.get(&self.work.context.user, self.task.id.as_str()).await?;
        let can_go_on = matches!(task.state, State::Pending | State::Running);
        Ok((!can_go_on).then(|| if task.state.is_final() { RunEnd::Over } else { RunEnd::Blocked }))
    }

    /// Asks the model, with the task as it stands; the inner error is why it does not answer.
    async fn ask(&mut self) -> Result<Result<Answered, String>, Refusal> {
        let (work, model) = (&*self.work, self.worker.model());
        let wish = RenderWish { provider: model.id().to_owned(), ..RenderWish::default() };
        let rendered = work.parts.tasks.render(&work.context.user, self.task.id.as_str(), wish).await?;
        let offer = self.worker.offer(work);
        let system = self.worker.system(work, &offer, &rendered.system);
        let tools = messages::declare(model, &offer);
        let request =
            Request { system, messages: messages::of(rendered.messages), tools, ..Request::default() };
        let (mut parts, mut answered) = (model.chat(request, &work.context), Answered::default());
        while let Some(part) = parts.next().await {
            match part {
                Ok(Part::Text(text)) => answered.text.push_str(&text),
                Ok(Part::Calls(calls)) => answered.calls.extend(calls),
                Ok(Part::End { usage, .. }) => {
                    self.tokens += usage.input_tokens + usage.output_tokens;
                    self.work.spent.usage.input_tokens += usage.input_tokens;
                    self.work.spent.usage.output_tokens += usage.output_tokens;
                }
                Err(error) => return Ok(Err(error.to_string())),
            }
            if answered.text.len() > MAX_ANSWER {
                return Ok(Err("the model's answer is longer than a task takes".to_owned()));
            }
        }
        Ok(Ok(answered))
    }

    fn emit_plan(&self, answered: &Answered) {
        let plan = events::plan(self.work.spent.steps, &answered.text, &answered.calls);
        self.work.tell(&self.task.id, plan);
    }

    /// Records the model's text beside its calls, and the opaque data that its provider wants back with them.
    async fn record_message(&self, step: u64, answered: &Answered) -> Result<(), Refusal> {
        let opaque = Opaques::of(&answered.calls)
            .map(|data| Opaque { provider: self.worker.model().id().to_owned(), data });
        if answered.text.is_empty() && opaque.is_none() {
            return Ok(());
        }
        let step_ref = StepRef { step, lease_token: self.token, ..StepRef::default() };
        let text = answered.text.clone();
        let message = NewMessage { speaker: Speaker::Assistant, text, opaque, step_ref };
        let (tasks, user) = (&self.work.parts.tasks, &self.work.context.user);
        tasks.append(user, self.task.id.as_str(), message, Some(RequestId::generate())).await.map(|_| ())
    }

    /// An agent that ends its turn without a hand-off has ended its task.
    async fn end(&self, text: String) -> Result<RunEnd, Refusal> {
        let result = json!({"text": text}).as_object().cloned().unwrap_or_default();
        let end = NewEnd::Completed(result, Vec::new());
        let (tasks, user) = (&self.work.parts.tasks, &self.work.context.user);
        tasks.end(user, self.task.id.as_str(), end, self.token, Some(RequestId::generate())).await?;
        Ok(RunEnd::Over)
    }

    /// Makes the calls of one response. Those after a hand-off are not made.
    async fn make_calls(&mut self, step: u64, calls: Vec<ToolCall>) -> Result<StepEnd, Refusal> {
        let (mut is_blocked, mut mistakes) = (false, true);
        let offer = self.worker.offer(self.work);
        for (position, call) in calls.into_iter().enumerate() {
            if self.calls >= self.work.budget.max_calls {
                return Ok(StepEnd::Ended(if is_blocked { RunEnd::Blocked } else { RunEnd::Spent }));
            }
            self.calls += 1;
            let step_ref = StepRef {
                step,
                position: u32::try_from(position).unwrap_or(u32::MAX),
                tool_call_id: call.id.clone(),
                lease_token: self.token,
            };
            let is_unknown = !offer.iter().any(|tool| tool.definition.name.as_str() == call.tool);
            let arguments = arguments::from_rounded_value(call.arguments);
            let (id, origin) = (RequestId::generate(), (step_ref, self.worker.allowed_tools(&offer)));
            let handled = self.work.handle(&self.task.id, call.tool, arguments, id, origin).await?;
            mistakes &= is_unknown || is_mistake(&handled);
            match handled.then {
                LoopControl::Continue => {}
                LoopControl::Return => return Ok(StepEnd::Ended(RunEnd::Over)),
                // The other calls of the step are made: a model may delegate to several agents at once.
                LoopControl::Block => is_blocked = true,
            }
        }
        Ok(match (is_blocked, mistakes) {
            (true, _) => StepEnd::Ended(RunEnd::Blocked),
            (false, true) => StepEnd::Mistakes,
            (false, false) => StepEnd::Some,
        })
    }

    /// Repeats the calls that the last worker left open. Returns the end of the work, if one of them ends it.
    async fn repeat_all(&mut self, open: Vec<OpenCall>) -> Result<Option<RunEnd>, Refusal> {
        for call in open {
            if let Some(ended) = self.repeat(call).await? {
                return Ok(Some(ended));
            }
        }
        Ok(None)
    }

    /// Repeats a call that has no end yet, under its idempotency key. What it was offered was checked the first time.
    async fn repeat(&mut self, call: OpenCall) -> Result<Option<RunEnd>, Refusal> {
        let arguments = arguments::from_text(&call.input);
        if arguments.as_ref().is_ok_and(|it| it.values().any(redaction::is_masked)) {
            let OpenCall { tool, request_id, .. } = call;
            return Ok(Some(RunEnd::Failed(format!(
                "the call {request_id} of {tool} has sensitive arguments, which are not kept, so that no run can make it \
                 again; cancel that call (CancelCall), and the task goes on without it"
            ))));
        }
        let step_ref = StepRef {
            step: call.step,
            position: call.position,
            tool_call_id: call.tool_call_id,
            lease_token: self.token,
        };
        let handled =
            self.work.handle(&self.task.id, call.tool, arguments, call.request_id, (step_ref, None)).await?;
        Ok(match handled.then {
            LoopControl::Continue => None,
            LoopControl::Return => Some(RunEnd::Over),
            LoopControl::Block => Some(RunEnd::Blocked),
        })
    }
}

enum StepEnd {
    /// The work on the task has ended.
    Ended(RunEnd),
    /// All of them were mistakes.
    Mistakes,
    /// At least one was not.
    Some,
}

/// Whether a model made a call with invalid arguments.
fn is_mistake(handled: &Handled) -> bool {
    match &handled.detail {
        Detail::Result(result) => {
            result.outcome.as_ref().is_err_and(|error| error.code == ErrorCode::InvalidArgument)
        }
        Detail::Value(_) | Detail::Block { .. } => false,
    }
}
