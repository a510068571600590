//! Confirmations of calls within tasks: where a call is asked for, where it is made again, and what became of
//! the task meanwhile. Each combination has its documented answer, by `CallTool` and by `HandleToolCall`.

use std::time::Duration;

use toolwire::contract::proto::{
    tasks::v1::{
        CancelTaskRequest, CreateTaskRequest, HandleToolCallRequest, HandleToolCallResponse,
        handle_tool_call_request::Input, handle_tool_call_response::Detail,
        task_service_client::TaskServiceClient,
    },
    v1::{ConfirmationCause, ToolContext},
};

use super::*;

/// In which task a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    None,
    Own,
    Tainted,
}

/// Where it is made again, and what became of its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Again {
    There,
    InAnother,
    WithoutTask,
    InTaskOfAnother,
    WhileBlocked,
    AfterItsEnd,
}

/// What became of the confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Pending,
    Approved,
    Used,
    Denied,
    Expired,
}

/// By which RPC it is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    CallTool,
    HandleToolCall,
}

#[derive(Debug, PartialEq)]
enum Answer {
    Runs,
    Record,
    Asks,
    Reused,
    Denied,
    Expired,
    Cancelled,
    UnknownTask,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    task: Task,
    again: Again,
    fate: Fate,
    way: Way,
}

impl Case {
    fn all() -> impl Iterator<Item = Self> {
        let again = [
            Again::There,
            Again::InAnother,
            Again::WithoutTask,
            Again::InTaskOfAnother,
            Again::WhileBlocked,
            Again::AfterItsEnd,
        ];
        let fates = [Fate::Pending, Fate::Approved, Fate::Used, Fate::Denied, Fate::Expired];
        let mut all = Vec::new();
        for task in [Task::None, Task::Own, Task::Tainted] {
            for again in again {
                for fate in fates {
                    for way in [Way::CallTool, Way::HandleToolCall] {
                        all.push(Self { task, again, fate, way });
                    }
                }
            }
        }
        all.into_iter().filter(|case| case.is_possible())
    }

    /// `HandleToolCall` names a task, and what has none is neither blocked nor over.
    fn is_possible(self) -> bool {
        let is_in_task = match self.again {
            Again::WithoutTask => false,
            Again::There => self.task != Task::None,
            Again::InAnother | Again::InTaskOfAnother => true,
            Again::WhileBlocked | Again::AfterItsEnd => {
                if self.task == Task::None {
                    return false;
                }
                true
            }
        };
        let is_new = !(self.task == Task::None && self.again == Again::WithoutTask);
        is_new && (is_in_task || self.way == Way::CallTool)
    }

    fn expected(self) -> Answer {
        // Whose task it is comes before everything.
        if self.again == Again::InTaskOfAnother {
            return Answer::UnknownTask;
        }
        // Its own record answers, wherever it is asked for.
        match self.fate {
            Fate::Used => return Answer::Record,
            Fate::Denied => return Answer::Denied,
            Fate::Expired => return Answer::Expired,
            Fate::Pending | Fate::Approved => {}
        }
        match (self.again, self.fate) {
            (Again::InAnother | Again::WithoutTask, _) => Answer::Reused,
            (Again::AfterItsEnd, _) => Answer::Cancelled,
            (_, Fate::Approved) => Answer::Runs,
            _ => Answer::Asks,
        }
    }
}

/// A user and the tasks of that user.
struct Desk<'a> {
    person: &'a Person,
    tasks: TaskServiceClient<Channel>,
}

impl Desk<'_> {
    async fn create(&self) -> String {
        let request_id = RequestId::generate().to_string();
        let message = CreateTaskRequest { request: "Anything".to_owned(), request_id, ..Default::default() };
        let created = self.tasks.clone().create_task(self.person.request(message)).await.unwrap();
        created.into_inner().task.unwrap().task_id
    }

    async fn cancel(&self, task: &str) {
        let message = CancelTaskRequest { task_id: task.to_owned(), reason: "no more".to_owned() };
        self.tasks.clone().cancel_task(self.person.request(message)).await.unwrap();
    }

    async fn handle(
        &self,
        task: &str,
        tool: &str,
        arguments: &Value,
        id: RequestId,
    ) -> Result<HandleToolCallResponse, Status> {
        let message = HandleToolCallRequest {
            task_id: task.to_owned(),
            tool: tool.to_owned(),
            input: Some(Input::ArgumentsJson(arguments.to_string())),
            request_id: id.to_string(),
            // All of one response of a model, so that it may wait for several things.
            step: 1,
            ..HandleToolCallRequest::default()
        };
        Ok(self.tasks.clone().handle_tool_call(self.person.request(message)).await?.into_inner())
    }

    async fn call(
        &self,
        way: Way,
        task: Option<&str>,
        tool: &str,
        arguments: &Value,
        id: RequestId,
    ) -> Result<Came, Status> {
        let (Way::HandleToolCall, Some(task)) = (way, task) else {
            let task_id = task.unwrap_or_default().to_owned();
            let context = Some(ToolContext { task_id, ..ToolContext::default() });
            return self.person.call(CallToolRequest { context, ..call(tool, arguments, Some(id)) }).await;
        };
        let answer = self.handle(task, tool, arguments, id).await?;
        Ok(match answer.detail.expect("a detail") {
            Detail::Result(result) => came(result.outcome),
            Detail::Block(block) => {
                Came::Required(Box::new(block.confirmation_required.expect("what to decide on")))
            }
            Detail::Value(value) => panic!("{value:?}"),
        })
    }
}

async fn desk<'a>(house: &House, person: &'a Person) -> Desk<'a> {
    Desk { person, tasks: TaskServiceClient::new(house.server.channel().await) }
}

/// `get_quotes` brings text from outside.
fn house(change: impl FnOnce(&mut Config)) -> House {
    let house = House::with(change);
    house.patch("get_quotes", &json!({"untrusted": true}));
    house
}

#[tokio::test]
async fn every_combination_with_tasks_has_its_documented_answer() {
    let slow = house(|_| ());
    let hurried = house(|config| {
        config.confirmations.expire_in = Duration::from_millis(1);
        config.confirmations.tasks_expire_in = Duration::from_millis(1);
    });
    for case in Case::all() {
        let house = if case.fate == Fate::Expired { &hurried } else { &slow };
        let (riley, sam) = (house.person("riley").await, house.person("sam").await);
        let (own, others) = (desk(house, &riley).await, desk(house, &sam).await);
        let task = match case.task {
            Task::None => None,
            Task::Own | Task::Tainted => Some(own.create().await),
        };
        // What a tainted task asks for, its tool does not ask for itself.
        let (tool, cause) = match case.task {
            Task::Tainted => ("debug_write", ConfirmationCause::Tainted),
            Task::None | Task::Own => ("debug_confirm", ConfirmationCause::Manifest),
        };
        if case.task == Task::Tainted {
            let read = json!({"symbol": "AMD"});
            own.handle(task.as_deref().unwrap(), "get_quotes", &read, RequestId::generate()).await.unwrap();
        }
        let (id, arguments) = (RequestId::generate(), json!({"value": "x"}));
        // Of a step, where it has a task, so that the same step can wait for something else.
        let first = async || own.call(Way::HandleToolCall, task.as_deref(), tool, &arguments, id).await;
        let asked = confirmation(first().await);
        assert_eq!(asked.cause(), cause, "{case:?}");
        let confirmation = &asked.confirmation_id;
        let mut came_before = None;
        match case.fate {
            Fate::Pending => {}
            Fate::Approved => drop(riley.approve(confirmation).await.unwrap()),
            Fate::Denied => drop(riley.deny(confirmation).await.unwrap()),
            Fate::Used => {
                riley.approve(confirmation).await.unwrap();
                came_before = Some(data(first().await));
            }
            Fate::Expired => {
                while !matches!(first().await, Ok(Came::Error(ToolErrorCode::ConfirmationExpired, _))) {}
            }
        }
        let place = match case.again {
            Again::There => task.clone(),
            Again::InAnother => Some(own.create().await),
            Again::WithoutTask => None,
            Again::InTaskOfAnother => Some(others.create().await),
            Again::WhileBlocked => {
                let task = task.as_deref().unwrap();
                let question = json!({"question": "Which year?"});
                own.handle(task, "ask_master", &question, RequestId::generate()).await.unwrap();
                Some(task.to_owned())
            }
            Again::AfterItsEnd => {
                own.cancel(task.as_deref().unwrap()).await;
                task.clone()
            }
        };
        let came = own.call(case.way, place.as_deref(), tool, &arguments, id).await;
        let found = match &came {
            Ok(Came::Data(data)) if came_before.as_ref() == Some(data) => Answer::Record,
            Ok(Came::Data(_)) => Answer::Runs,
            Ok(Came::Required(it)) if it.confirmation_id == *confirmation => Answer::Asks,
            Ok(Came::Error(ToolErrorCode::ConfirmationDenied, _)) => Answer::Denied,
            Ok(Came::Error(ToolErrorCode::ConfirmationExpired, _)) => Answer::Expired,
            Ok(Came::Error(ToolErrorCode::Cancelled, _)) => Answer::Cancelled,
            Err(status) if status.code() == Code::AlreadyExists => Answer::Reused,
            Err(status) if status.code() == Code::NotFound => Answer::UnknownTask,
            other => panic!("{case:?}: {other:?}"),
        };
        assert_eq!(found, case.expected(), "{case:?}");
        // A user has so many open trees and confirmations.
        for task in [&task, &place].into_iter().flatten() {
            let owner = if case.again == Again::InTaskOfAnother && Some(task) == place.as_ref() {
                &others
            } else {
                &own
            };
            owner.cancel(task).await;
        }
        if case.fate == Fate::Pending && case.task == Task::None {
            riley.deny(confirmation).await.unwrap();
        }
    }
}

/// A task that takes no call asks nobody.
#[tokio::test]
async fn a_task_that_takes_no_call_asks_nobody() {
    let house = house(|_| ());
    let (riley, sam) = (house.person("riley").await, house.person("sam").await);
    let (own, others) = (desk(&house, &riley).await, desk(&house, &sam).await);
    let blocked = own.create().await;
    let question = json!({"question": "Which year?"});
    own.handle(&blocked, "ask_master", &question, RequestId::generate()).await.unwrap();
    let ended = own.create().await;
    own.cancel(&ended).await;
    let foreign = others.create().await;
    let cases = [
        (&blocked, Code::FailedPrecondition, "TASK_BLOCKED"),
        (&ended, Code::FailedPrecondition, "TASK_ENDED"),
        (&foreign, Code::NotFound, "UNKNOWN_TASK"),
    ];
    for (task, code, reason) in cases {
        let arguments = json!({"value": "x"});
        let came = own.call(Way::CallTool, Some(task), "debug_confirm", &arguments, RequestId::generate());
        assert_refused(came.await, code, reason);
    }
    assert_eq!(super::ways_round::open(&riley).await, Vec::<String>::new());
}

/// What is approved for one task is not used by another, whatever its identifier.
#[tokio::test]
async fn an_approval_within_a_task_is_adopted_by_no_call_elsewhere() {
    let house = house(|_| ());
    let riley = house.person("riley").await;
    let own = desk(&house, &riley).await;
    let (one, other) = (own.create().await, own.create().await);
    // A read, which adopts open confirmations of equal calls where it has no identifier.
    let read = |task: &str| CallToolRequest {
        require_confirmation: true,
        context: Some(ToolContext { task_id: task.to_owned(), ..ToolContext::default() }),
        ..call("get_quotes", &json!({"symbol": "AMD"}), None)
    };
    let asked = confirmation(riley.call(read(&one)).await);
    riley.approve(&asked.confirmation_id).await.unwrap();
    for elsewhere in [other.as_str(), ""] {
        let came = confirmation(riley.call(read(elsewhere)).await);
        assert_ne!(came.confirmation_id, asked.confirmation_id);
    }
    assert_eq!(riley.state(&asked.confirmation_id).await, ConfirmationState::Approved);
}
