//! A call of a task's agent: made in the task's name, with its events. What it does to the task is not here.

use serde_json::Value;

use super::{
    events,
    work::{PendingApproval, Work},
    worker::ToolNames,
};
use toolwire_base::clock;
use toolwire_contract::{
    Refusal,
    arguments::{Arguments, Unreadable},
};
use toolwire_engine::pipeline::{Call, Target};
use toolwire_server::service::tasks::{Detail, Handled};
use toolwire_state::tasks::StepRef;
use toolwire_tool::context::{CallId, Cancellation, Lineage, Pins, RequestId, TaskId, ToolContext};

impl Work<'_> {
    /// Makes a call, and says what the loop does then.
    pub(super) async fn handle(
        &mut self,
        task: &TaskId,
        tool: String,
        arguments: Result<Arguments, Unreadable>,
        request_id: RequestId,
        (step_ref, offered): (StepRef, Option<ToolNames>),
    ) -> Result<Handled, Refusal> {
        self.spent.calls += 1;
        let call_id = CallId::generate();
        let shown = Value::Object(arguments.clone().unwrap_or_default()).to_string();
        self.tell(task, events::start_event(call_id, self.spent.steps, &tool, &shown, request_id));
        let context = ToolContext {
            call_id,
            lineage: Lineage::of(call_id),
            cancellation: Cancellation::new(),
            pins: Pins::default(),
            task_id: Some(task.as_str().parse().expect("the name of a task is a label")),
            ..self.context.clone()
        };
        let mut call = Box::new(Call::new(context, Target::Tool(tool.clone()), arguments));
        (call.request_id, call.step_ref, call.offered) =
            (Some(request_id), Some(Box::new(step_ref)), offered);
        let began = clock::now();
        let handled = self.parts.tasks.handle(call).await?;
        if let Detail::Block { required: Some(required), .. } = &handled.detail {
            let (call_id, required) = (handled.call_id.to_string(), required.clone());
            self.asked.push(PendingApproval { call_id, tool: tool.clone(), arguments: shown, required });
        }
        self.tell(task, events::end_event(call_id, &tool, &handled, clock::now() - began));
        Ok(handled)
    }
}
