//! The source: a machine that takes its time, and the connector that asks it, through the product's stack of requests.

use std::{io, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::Request,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    time::sleep,
};
use toolwire::{
    contract::{ErrorCode, ToolError},
    outgoing::Egress,
    sources::upstream::{
        http::{Client, CredentialsOf, ExpectedBody, Failure, Outgoing, Profile, Sender},
        limiter::{Budgets, MemoryLimiter},
    },
    state::MemoryCoolDowns,
    tool::context::ToolContext,
};
use turmoil::net::{TcpListener, TcpStream};
use url::Url;

use crate::{
    ledger::{Ledger, now},
    tools::Answered,
};

pub(crate) const HOST: &str = "source";
const PORT: u16 = 80;
/// It takes no longer than this.
const LONGEST: u64 = 600;

const PROFILE: Profile = Profile {
    name: "simulated",
    title: "The simulated source",
    timeout: Duration::from_millis(1_500),
    max_body: 1_024,
    may_retry: true,
    credentials: CredentialsOf::None,
    check: |_| None,
};

/// Answers until the simulation ends.
pub(crate) async fn serve(ledger: Ledger) -> turmoil::Result {
    let listener = TcpListener::bind(("0.0.0.0", PORT)).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(answer(stream, ledger.clone()));
    }
}

/// Answers `/<verb>/<key>/<user>`. What is written is written whether or not anybody still waits.
async fn answer(stream: TcpStream, ledger: Ledger) -> io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut line = String::new();
    BufReader::new(reader).read_line(&mut line).await?;
    let parts: Vec<_> = line.trim().split('/').collect();
    let ["", verb, key, user] = parts[..] else { return Ok(()) };
    let half = Duration::from_millis(fastrand::u64(0..LONGEST / 2));
    sleep(half).await;
    if verb == "write" {
        ledger.lock().written.push((key.to_owned(), user.to_owned()));
    }
    sleep(half).await;
    writer.write_all(format!("{key} {user}").as_bytes()).await
}

/// What the tools ask.
#[derive(Debug)]
pub(crate) struct Connector {
    client: Client,
    base: Url,
}

/// Where tools note that they run.
#[derive(Clone)]
pub(crate) struct Notes(pub(crate) Ledger);

impl Connector {
    pub(crate) fn new(ledger: &Ledger) -> Self {
        let base = Url::parse("http://source.invalid/").unwrap();
        let ledger = ledger.clone();
        let carry = move |request: Request| carry(ledger.clone(), request);
        let sender =
            Sender::new(&Egress::default()).unwrap().with_in_process(&base, Router::new().fallback(carry));
        let limiter = Arc::new(MemoryLimiter::new(Vec::<(String, Budgets)>::new()));
        Self { client: Client::new(PROFILE, sender, limiter, Arc::<MemoryCoolDowns>::default()), base }
    }

    pub(crate) async fn read(&self, key: &str, context: &ToolContext) -> Result<Answered, ToolError> {
        let outgoing = Outgoing::get(self.url("read", key, context), ExpectedBody::Text);
        Ok(self.send(outgoing, context).await?)
    }

    /// Once a request has gone out, nothing but its answer says whether the source has written.
    pub(crate) async fn write(&self, key: &str, context: &ToolContext) -> Result<Answered, ToolError> {
        let outgoing = Outgoing::post_form(self.url("write", key, context), &[], ExpectedBody::Text);
        self.send(outgoing, context).await.map_err(|failure| match failure.attempts {
            0 => failure.into(),
            _ => ToolError::new(ErrorCode::OutcomeUnknown, "The source did not say whether it wrote."),
        })
    }

    async fn send(&self, outgoing: Outgoing, context: &ToolContext) -> Result<Answered, Failure> {
        let answer = self.client.send(outgoing, context).await?.text();
        let (key, user) = answer.split_once(' ').ok_or_else(|| Failure::malformed("not two words"))?;
        Ok(Answered { key: key.to_owned(), user: user.to_owned() })
    }

    fn url(&self, verb: &str, key: &str, context: &ToolContext) -> Url {
        self.base.join(&format!("{verb}/{key}/{}", context.user.id.as_str())).unwrap()
    }
}

/// Carries a request over the simulated network, in place of reqwest.
async fn carry(ledger: Ledger, request: Request) -> Response {
    let path = request.uri().path();
    let _asking = ledger.ask(path.split('/').nth(2).unwrap_or_default());
    match over_the_network(path).await {
        Ok(text) => text.into_response(),
        Err(_) => StatusCode::BAD_GATEWAY.into_response(),
    }
}

async fn over_the_network(path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect((HOST, PORT)).await?;
    stream.write_all(format!("{path}\n").as_bytes()).await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    if text.is_empty() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(text) }
}

impl Notes {
    /// Notes that a tool runs until what this returns is dropped.
    pub(crate) fn run(&self, key: &str, context: &ToolContext) -> impl Drop + Send + use<> {
        self.0.run(key, now() + context.remaining())
    }
}
