//! A server with a person who decides, and clients that learn of it by each mechanism.

use serde_json::{Value, json};
use toolwire::{
    config::Config,
    contract::proto::v1::{
        Approve, Confirmation, ConfirmationState, DecideConfirmationRequest, Deny, GetConfirmationRequest,
        ListConfirmationsRequest, confirmation_service_client::ConfirmationServiceClient,
        decide_confirmation_request::Decision,
    },
};

use super::client::{Era, Message, messages};
use crate::http::{house::House, talk::Talk};

/// What a client declares to use a mechanism.
pub(crate) fn tasks() -> Value {
    json!({"extensions": {"io.modelcontextprotocol/tasks": {}}})
}

pub(crate) fn forms() -> Value {
    json!({"elicitation": {"form": {}}})
}

pub(crate) fn house_with(change: impl FnOnce(&mut Config)) -> House {
    House::with(|config| {
        config.server.diagnostics = true;
        change(config);
    })
}

/// The command by which a person approves a call of `debug_confirm`, whole.
pub(crate) fn approve_command(house: &House, id: &str) -> String {
    format!("`toolwire approve {id} --tool debug_confirm --server http://{}`", house.server.address)
}

/// One client of a user.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) talk: Talk,
    pub(crate) capabilities: Value,
    pub(crate) era: Era,
    /// How long each of its calls may take: a wait for a person ends a second earlier.
    pub(crate) timeout: &'static str,
}

impl Client {
    /// A client that declares these capabilities, and whose calls hardly wait for a person: one with forms is asked at
    /// once.
    pub(crate) fn new(talk: Talk, capabilities: Value) -> Self {
        let timeout = if capabilities == forms() { "30s" } else { "3s" };
        Self { talk, capabilities, era: Era::New, timeout }
    }

    /// The answer to a request, an error too.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> Value {
        let mut message = Message::with_capabilities(self.era, method, params, &self.capabilities);
        message.headers.push(("x-toolwire-timeout", self.timeout.to_owned()));
        let answer = message.send(&self.talk, "/mcp").await;
        messages(&answer).pop().unwrap_or_else(|| panic!("{answer:?}"))
    }

    /// The result of a call.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.call_with(json!({"name": tool, "arguments": arguments})).await
    }

    pub(crate) async fn call_with(&self, params: Value) -> Value {
        let mut answer = self.ask("tools/call", params).await;
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].take()
    }

    /// The state of a task.
    pub(crate) async fn task(&self, id: &str) -> Value {
        self.ask("tasks/get", json!({"taskId": id})).await
    }

    /// The task once it has this status.
    pub(crate) async fn task_that_is(&self, id: &str, status: &str) -> Value {
        let look = async {
            loop {
                let mut answer = self.task(id).await;
                if answer["result"]["status"] == status {
                    return answer["result"].take();
                }
                assert_eq!(answer["result"]["status"], "working", "{answer}");
            }
        };
        tokio::time::timeout(super::client::SOON, look)
            .await
            .unwrap_or_else(|_| panic!("{id} is not {status}"))
    }
}

/// Decides by gRPC.
pub(crate) struct Approver {
    confirmations: ConfirmationServiceClient<tonic::transport::Channel>,
    user: &'static str,
}

impl Approver {
    pub(crate) async fn of(house: &House, user: &'static str) -> Self {
        Self { confirmations: ConfirmationServiceClient::new(house.server.channel().await), user }
    }

    pub(crate) fn over(channel: tonic::transport::Channel, user: &'static str) -> Self {
        Self { confirmations: ConfirmationServiceClient::new(channel), user }
    }

    fn request<T>(&self, message: T) -> tonic::Request<T> {
        let mut request = tonic::Request::new(message);
        request.metadata_mut().insert("x-toolwire-user", self.user.parse().unwrap());
        request
    }

    pub(crate) async fn get(&self, id: &str) -> Confirmation {
        self.get_after(id, None).await
    }

    /// The confirmation once it is no longer pending.
    pub(crate) async fn wait_end(&self, id: &str) -> Confirmation {
        self.get_after(id, Some(prost_types::Duration { seconds: 60, nanos: 0 })).await
    }

    async fn get_after(&self, id: &str, wait: Option<prost_types::Duration>) -> Confirmation {
        let message = GetConfirmationRequest { confirmation_id: id.to_owned(), wait };
        let answer = self.confirmations.clone().get_confirmation(self.request(message)).await.unwrap();
        answer.into_inner().confirmation.unwrap()
    }

    pub(crate) async fn approve(&self, id: &str) {
        let tool = self.get(id).await.tool;
        self.decide(id, Decision::Approve(Approve { tool, reason: String::new() })).await;
    }

    pub(crate) async fn deny(&self, id: &str) {
        self.decide(id, Decision::Deny(Deny { reason: "not today".to_owned() })).await;
    }

    async fn decide(&self, id: &str, decision: Decision) {
        let message = DecideConfirmationRequest {
            confirmation_id: id.to_owned(),
            decision: Some(decision),
            on_behalf_of: String::new(),
        };
        self.confirmations.clone().decide_confirmation(self.request(message)).await.unwrap();
    }

    /// The pending confirmations, once there are any.
    pub(crate) async fn pending(&self) -> Vec<Confirmation> {
        loop {
            let listed = self
                .confirmations
                .clone()
                .list_confirmations(self.request(ListConfirmationsRequest::default()))
                .await
                .unwrap();
            let mut listed = listed.into_inner().confirmations;
            listed.retain(|it| it.state() == ConfirmationState::Pending);
            if !listed.is_empty() {
                return listed;
            }
            tokio::task::yield_now().await;
        }
    }
}

/// The confirmation that an answer names.
#[track_caller]
pub(crate) fn confirmation_id(result: &Value) -> String {
    result["_meta"]["toolwire/confirmation_id"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
}
