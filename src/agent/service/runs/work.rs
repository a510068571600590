//! A run in progress: its task, its spending, and its log.

use std::sync::Arc;

use super::parts::Parts;
use crate::{Budget, TurnId, log::Log};
use toolwire_contract::{ConfirmationRequired, Refusal, proto::agent::v1::turn_event::Event};
use toolwire_engine::registry::{RegisteredTool, Status, ToolType};
use toolwire_sources::models::{Model, Usage};
use toolwire_state::tasks::{Filter, Scope, Task};
use toolwire_tool::context::{TaskId, ToolContext};

/// Maximum number of tasks per read.
const PAGE: i32 = 1_000;

pub(super) struct Work<'a> {
    pub(super) parts: &'a Parts,
    /// The model for tasks whose role has none of its own.
    pub(super) model: Arc<dyn Model>,
    pub(super) context: ToolContext,
    pub(super) task: TaskId,
    pub(super) budget: Budget,
    pub(super) turn_id: TurnId,
    pub(super) log: &'a Log,
    pub(super) spent: Spending,
    /// The calls of this run that wait for a person.
    pub(super) asked: Vec<PendingApproval>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spending {
    pub(super) steps: u32,
    pub(super) calls: u32,
    pub(super) usage: Usage,
}

/// A call that waits for a person.
#[derive(Clone, Debug)]
pub(super) struct PendingApproval {
    pub(super) call_id: String,
    pub(super) tool: String,
    pub(super) arguments: String,
    pub(super) required: Box<ConfirmationRequired>,
}

impl Work<'_> {
    pub(super) fn tell(&self, task: &TaskId, event: Event) {
        self.log.tell_of(task.as_str(), event);
    }

    /// The tools that a task's agent may call, whatever its role: all of the user's but those that begin a tree.
    pub(super) fn offer(&self) -> impl Iterator<Item = Arc<RegisteredTool>> {
        let parts = self.parts.agent.parts();
        let (policy, user) = (Arc::clone(&parts.policy), self.context.user.clone());
        let tools: Vec<_> = parts.registry.snapshot().tools().cloned().collect();
        tools.into_iter().filter(move |tool| {
            let definition = &tool.definition;
            definition.kind != ToolType::Root
                && !matches!(definition.status, Status::Disabled(_))
                && policy.may_call(&user, definition.rule_target())
        })
    }

    /// The run's task and the tasks below it, parents before children.
    pub(super) async fn tree(&self) -> Result<Vec<Task>, Refusal> {
        let user = &self.context.user;
        let root = self.parts.tasks.get(user, self.task.as_str()).await?.root;
        let filter = Filter { scope: Scope::Tree(root), ..Filter::default() };
        let (mut below, mut token) = (Vec::<Task>::new(), String::new());
        loop {
            let page = self.parts.tasks.list(user, &filter, PAGE, &token).await?;
            for task in page.tasks {
                let is_below = |parent: &TaskId| below.iter().any(|it| it.id == *parent);
                if task.id == self.task || task.parent.as_ref().is_some_and(is_below) {
                    below.push(task);
                }
            }
            if page.next.is_empty() {
                return Ok(below);
            }
            token = page.next;
        }
    }
}
