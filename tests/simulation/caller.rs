//! A caller's machine: makes the calls of its plan over one connection, and a new one when that breaks.

use std::{rc::Rc, time::Duration};

use futures_util::future::{join, join_all};
use serde_json::{Value, json};
use tokio::{
    sync::Mutex,
    time::{sleep, timeout},
};
use toolwire::contract::proto::v1::{
    CallToolRequest, CallToolResponse, CancelCallRequest, CancelCallResponse, ResultFormat, ToolErrorCode,
    call_tool_request::{Input, Target},
    call_tool_response::Outcome as Terminal,
    cancel_call_request::Call,
    tool_result::Outcome,
};

use crate::{
    client::{Broken, Client, Reply},
    ledger::{End, Ledger, Seen, now},
    plan::{CALLERS, CALM, END, Kind, Operation, SHARE, SLACK},
    server::user,
};

/// How long after a deadline nothing is expected any more.
const PATIENCE: Duration = Duration::from_millis(400);
/// Between two tries of one write.
const PAUSE: Duration = Duration::from_millis(200);
/// The calls after the last repair have time enough.
const AMPLE: Duration = Duration::from_secs(3);

/// One machine.
#[derive(Clone)]
struct Caller {
    number: usize,
    ledger: Ledger,
    line: Rc<Mutex<Option<Client>>>,
}

/// Makes the calls of a plan, and after the last repair some that must succeed.
pub(crate) async fn run(number: usize, operations: Vec<Operation>, ledger: Ledger) -> turmoil::Result {
    let caller = Caller { number, ledger, line: Rc::default() };
    join_all(operations.into_iter().map(|operation| caller.carry_out(operation))).await;
    sleep(CALM.saturating_sub(now())).await;
    // Whatever the last one has been through.
    *caller.line.lock().await = None;
    // Both machines of the user together: as many as one user may have, so that none is missing.
    let machines = (0..CALLERS.len()).filter(|other| user(*other) == user(number)).count();
    let calls = (0..SHARE / machines).map(|call| {
        let key = format!("{}-after-{call}", CALLERS[number]);
        let request_id = String::new();
        caller.attempt(Operation { at: now(), kind: Kind::Read, key, timeout: AMPLE, request_id })
    });
    let seen = join_all(calls).await;
    caller.ledger.lock().after.extend(seen);
    Ok(())
}

impl Caller {
    async fn carry_out(&self, operation: Operation) {
        sleep(operation.at.saturating_sub(now())).await;
        match operation.kind {
            Kind::Read | Kind::Cached => self.note(self.attempt(operation).await),
            Kind::Write => self.write(operation).await,
            Kind::Reset(after) => self.reset(operation, after).await,
            Kind::Cancel(after) => {
                let (seen, ()) = join(self.attempt(operation.clone()), self.cancel(operation, after)).await;
                self.note(seen);
            }
        }
    }

    fn note(&self, seen: Seen) {
        self.ledger.lock().seen.push(seen);
    }

    /// The same request until its outcome is known.
    async fn write(&self, operation: Operation) {
        while now() < END {
            let seen = self.attempt(operation.clone()).await;
            let is_known = match seen.end {
                End::Data { .. } => true,
                End::Failed(code) => code == ToolErrorCode::OutcomeUnknown as i32,
                _ => false,
            };
            self.note(seen);
            if is_known && !self.may_still_run(&operation) {
                return;
            }
            sleep(PAUSE).await;
        }
    }

    /// A write that runs on has an outcome of its own, which its caller learns by asking again.
    fn may_still_run(&self, operation: &Operation) -> bool {
        self.ledger.lock().runs.iter().any(|run| run.key == operation.key && run.ended.is_none())
    }

    async fn reset(&self, operation: Operation, after: Duration) {
        let sent = now();
        let Ok(seen) = timeout(after, self.attempt(operation.clone())).await else {
            let connected = self.line.lock().await.as_ref().map(|client| client.connected);
            let seen =
                Seen { caller: self.number, operation, sent, connected, ended: now(), end: End::Reset };
            return self.note(seen);
        };
        self.note(seen);
    }

    async fn cancel(&self, operation: Operation, after: Duration) {
        sleep(after).await;
        let request = CancelCallRequest { call: Some(Call::RequestId(operation.request_id)) };
        let Ok(Ok(client)) = timeout(SLACK, self.connected()).await else { return };
        let answer = timeout(SLACK, client.call("CancelCall", SLACK, &request)).await;
        if let Ok(Ok(Ok(CancelCallResponse { cancelled: true }))) = answer {
            self.ledger.lock().cancelled.push((operation.key, now()));
        }
    }

    /// Makes a call once.
    async fn attempt(&self, operation: Operation) -> Seen {
        let (sent, mut connected) = (now(), None);
        let answered = async {
            let client = self.connected().await?;
            connected = Some(client.connected);
            client.call("CallTool", operation.timeout, &request(&operation)).await
        };
        let end = match timeout(operation.timeout + PATIENCE, answered).await {
            Ok(Ok(reply)) => of(reply),
            Ok(Err(Broken)) => End::Broken,
            Err(_) => End::Lost,
        };
        if matches!(end, End::Broken | End::Lost) {
            self.hang_up(connected).await;
        }
        Seen { caller: self.number, operation, sent, connected, ended: now(), end }
    }

    /// The connection, made if there is none.
    async fn connected(&self) -> Result<Client, Broken> {
        let mut line = self.line.lock().await;
        if let Some(client) = &*line {
            return Ok(client.clone());
        }
        let client = Client::connect(user(self.number)).await?;
        Ok(line.insert(client).clone())
    }

    /// Leaves the connection that was made then.
    async fn hang_up(&self, connected: Option<Duration>) {
        let mut line = self.line.lock().await;
        line.take_if(|client| Some(client.connected) == connected);
    }
}

fn request(operation: &Operation) -> CallToolRequest {
    let tool = match operation.kind {
        Kind::Cached => "sim_cached",
        Kind::Write => "sim_write",
        Kind::Read | Kind::Reset(_) | Kind::Cancel(_) => "sim_read",
    };
    // Equal calls with ids of their own would not be answered by one execution.
    let request_id = if operation.kind == Kind::Cached { "" } else { &operation.request_id };
    CallToolRequest {
        target: Some(Target::Tool(tool.to_owned())),
        input: Some(Input::ArgumentsJson(json!({"key": operation.key}).to_string())),
        request_id: request_id.to_owned(),
        result_format: ResultFormat::Json as i32,
        ..CallToolRequest::default()
    }
}

fn of(reply: Reply<CallToolResponse>) -> End {
    let answer = match reply {
        Err(status) => return End::Status(status),
        Ok(answer) => answer,
    };
    let Some(Terminal::Result(result)) = answer.outcome else { panic!("no result") };
    match result.outcome.expect("an outcome") {
        Outcome::DataJson(text) => {
            let data: Value = serde_json::from_str(&text).expect("JSON");
            let of = |name: &str| data[name].as_str().unwrap_or_default().to_owned();
            End::Data { key: of("key"), user: of("user") }
        }
        Outcome::Error(error) => End::Failed(error.code),
        Outcome::Data(_) | Outcome::DataText(_) => panic!("another form than was asked for"),
    }
}
