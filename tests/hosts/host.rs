//! A host that says what a test tells it to.

use std::time::Duration;

use futures_util::stream;
use prost::Message as _;
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::timeout};
use tonic::{Request, Status, Streaming, transport::Channel};
use toolwire::contract::proto::{
    host::v1::{
        Hello, Late, Offer, Outcome, Start, Welcome, WorkRequest, WorkResponse, outcome,
        tool_host_service_client::ToolHostServiceClient, work_request, work_response::Message,
    },
    v1::{ConsequenceLevel, ToolCategory, ToolError},
};

use crate::support::server::Server;

const LIMIT: Duration = Duration::from_secs(20);

/// One slot.
pub(crate) struct Host {
    requests: Option<mpsc::Sender<WorkRequest>>,
    answers: Streaming<WorkResponse>,
    catalogue: &'static str,
}

/// A read with one argument.
pub(crate) fn offer(name: &str) -> Offer {
    let input = json!({
        "type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"],
        "additionalProperties": false
    });
    Offer {
        name: name.to_owned(),
        description: "Where an order is. Use it when a customer asks.".to_owned(),
        category: ToolCategory::Read.into(),
        consequence_level: ConsequenceLevel::Low.into(),
        input_schema_json: input.to_string(),
        ..Offer::default()
    }
}

impl Host {
    pub(crate) async fn dial(server: &Server, token: Option<&str>) -> Result<Self, Status> {
        Self::dial_as(server, token, "c1").await
    }

    /// The same with offers of another catalogue.
    pub(crate) async fn dial_as(
        server: &Server,
        token: Option<&str>,
        catalogue: &'static str,
    ) -> Result<Self, Status> {
        Self::dial_over(server.channel().await, token, catalogue).await
    }

    pub(crate) async fn dial_over(
        channel: Channel,
        token: Option<&str>,
        catalogue: &'static str,
    ) -> Result<Self, Status> {
        let (requests, mut outgoing) = mpsc::channel(4);
        let mut request = Request::new(stream::poll_fn(move |cx| outgoing.poll_recv(cx)));
        if let Some(token) = token {
            request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().expect("ASCII"));
        }
        // The server reads a first message before it answers.
        let first = work_request::Message::Hello(hello(catalogue));
        requests.send(WorkRequest { message: Some(first) }).await.expect("open");
        let mut client = ToolHostServiceClient::new(channel);
        let answers = client.work(request).await?.into_inner();
        Ok(Self { requests: Some(requests), answers, catalogue })
    }

    /// Hands the offers over if they are asked for.
    pub(crate) async fn greet(&mut self, offers: Vec<Offer>) -> Result<Welcome, Status> {
        loop {
            match self.next().await? {
                Some(Message::Welcome(welcome)) if welcome.send_catalogue => {
                    let offers = offers.iter().map(|it| it.encode_to_vec().into()).collect();
                    self.send(work_request::Message::Hello(Hello { offers, ..hello(self.catalogue) })).await;
                }
                Some(Message::Welcome(welcome)) => return Ok(welcome),
                other => panic!("{other:?}"),
            }
        }
    }

    pub(crate) async fn next(&mut self) -> Result<Option<Message>, Status> {
        let answer = timeout(LIMIT, self.answers.message()).await.expect("in time")?;
        Ok(answer.map(|it| it.message.expect("of a kind")))
    }

    pub(crate) async fn start(&mut self) -> Start {
        match self.next().await {
            Ok(Some(Message::Start(start))) => start,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn outcome(&self, start: &Start, data: &Value) {
        self.outcome_text(start, &data.to_string()).await;
    }

    /// An outcome to the letter.
    pub(crate) async fn outcome_text(&self, start: &Start, data: &str) {
        let outcome = Some(outcome::Outcome::DataJson(data.to_owned()));
        self.send(work_request::Message::Outcome(Outcome { call_id: start.call_id.clone(), outcome })).await;
    }

    pub(crate) async fn fail(&self, start: &Start, error: ToolError) {
        let outcome = Some(outcome::Outcome::Error(error));
        self.send(work_request::Message::Outcome(Outcome { call_id: start.call_id.clone(), outcome })).await;
    }

    /// The outcome of a call whose slot was lost.
    pub(crate) async fn late(&self, start: &Start, data: &Value) {
        let outcome = Some(outcome::Outcome::DataJson(data.to_string()));
        let outcome = Some(Outcome { call_id: start.call_id.clone(), outcome });
        self.send(work_request::Message::Late(Late { outcome })).await;
    }

    pub(crate) fn half_close(&mut self) {
        self.requests = None;
    }

    async fn send(&self, message: work_request::Message) {
        let requests = self.requests.as_ref().expect("not half-closed");
        requests.send(WorkRequest { message: Some(message) }).await.expect("open");
    }
}

fn hello(catalogue: &str) -> Hello {
    let (instance, catalogue_id) = ("i1".to_owned(), catalogue.to_owned());
    Hello { instance, catalogue_id, protocol: 1, ..Hello::default() }
}
