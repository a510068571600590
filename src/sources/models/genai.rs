//! A model of a provider, over the network. The crate genai speaks each provider's own interface; model, endpoint, key
//! and bounds are passed with each request, so that genai never reads the environment.
//!
//! The texts of its errors hold what was sent and what came: they go nowhere, and neither does its own log.

mod answer;
mod completion;
mod failure;
mod request;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures_util::{StreamExt, stream};
use genai::{
    Client, ModelIden, ServiceTarget,
    adapter::AdapterKind,
    resolver::{AuthData, Endpoint},
};
use secrecy::ExposeSecret;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use self::{answer::Open, request::Bounds};
use super::{
    Model, ModelError, Request, ResponseStream, ToolForm, bound, retry,
    token::{Token, Tokens},
};
use toolwire_config::{ConfiguredModel, Credentials, Provider};
use toolwire_outgoing::Egress;
use toolwire_tool::context::ToolContext;

/// A model of a provider. Cheap to clone.
#[derive(Clone)]
pub struct Remote(Arc<Inner>);

struct Inner {
    id: String,
    provider: Provider,
    name: String,
    endpoint: Endpoint,
    key: Key,
    client: Client,
    /// The connections of the client, for requests that genai cannot make.
    connections: reqwest::Client,
    bounds: Bounds,
    /// Whether the server has answered a request for a stream with what is none.
    answers_whole: AtomicBool,
}

/// The credentials of each request.
enum Key {
    Fixed(AuthData),
    Fetched(Tokens),
}

/// The provider's own address. `None` for a compatible server, which has none.
const fn address(provider: Provider) -> Option<&'static str> {
    match provider {
        Provider::Gemini => Some("https://generativelanguage.googleapis.com/v1beta/"),
        Provider::Anthropic => Some("https://api.anthropic.com/v1/"),
        Provider::Openai => Some("https://api.openai.com/v1/"),
        Provider::Ollama => Some("http://localhost:11434/"),
        Provider::Compatible => None,
    }
}

const fn adapter(provider: Provider) -> AdapterKind {
    match provider {
        Provider::Gemini => AdapterKind::Gemini,
        Provider::Anthropic => AdapterKind::Anthropic,
        Provider::Openai | Provider::Compatible => AdapterKind::OpenAI,
        Provider::Ollama => AdapterKind::Ollama,
    }
}

impl Remote {
    /// A model as it is configured, over connections of its own.
    pub fn new(configured: &ConfiguredModel, egress: &Egress) -> Result<Self, ModelError> {
        let ConfiguredModel { provider, model, endpoint, credentials, certificate, .. } = configured;
        let connections = bound::client(egress, certificate.as_ref().map(|it| &it.certificate))?;
        let endpoint = match (endpoint, address(*provider)) {
            // A path is added to it as it stands.
            (Some(url), _) => Endpoint::from_owned(format!("{}/", url.as_str().trim_end_matches('/'))),
            (None, Some(address)) => Endpoint::from_static(address),
            (None, None) => return Err(ModelError::Unavailable),
        };
        let key = match credentials {
            Credentials::None => Key::Fixed(AuthData::from_single(String::new())),
            Credentials::Key(key) => Key::Fixed(AuthData::from_single(key.expose_secret())),
            Credentials::OAuth(oauth) => Key::Fetched(Tokens::new(oauth.clone(), connections.clone())),
        };
        let client = Client::builder().with_reqwest(connections.clone()).build();
        let client = client.map_err(|_| ModelError::Unavailable)?;
        Ok(Self(Arc::new(Inner {
            id: format!("{provider}/{model}"),
            provider: *provider,
            name: model.clone(),
            endpoint,
            key,
            client,
            connections,
            bounds: Bounds { silence: configured.timeout, max_tokens: configured.max_answer_tokens },
            answers_whole: AtomicBool::new(false),
        })))
    }
}

impl Model for Remote {
    fn id(&self) -> &str {
        &self.0.id
    }

    fn form(&self) -> ToolForm {
        match self.0.provider {
            Provider::Gemini => ToolForm::Gemini,
            Provider::Anthropic => ToolForm::Anthropic,
            Provider::Openai | Provider::Ollama | Provider::Compatible => ToolForm::Openai,
        }
    }

    fn chat(&self, request: Request, context: &ToolContext) -> ResponseStream {
        let (model, deadline) = (self.clone(), context.deadline.at());
        let opened = async move { model.0.open(&request, deadline).await };
        stream::once(opened)
            .flat_map(move |opened| match opened {
                Ok(open) => open.parts(deadline).boxed(),
                Err(error) => stream::iter([Err(error)]).boxed(),
            })
            .boxed()
    }
}

impl Inner {
    /// An answer that has begun. What fails before is tried again where that may help.
    async fn open(&self, request: &Request, deadline: Instant) -> Result<Open, ModelError> {
        let (mut repeats, mut refused) = (0, false);
        loop {
            let error = match timeout_at(deadline, self.attempt(request, &mut refused)).await {
                Err(_) => ModelError::TimedOut,
                Ok(Ok(open)) => return Ok(open),
                Ok(Err(AttemptError::Refused)) => continue,
                Ok(Err(AttemptError::For(error))) => error,
            };
            tracing::warn!(model = self.id, error = error.into_str(), repeats, "a model did not answer");
            let Some(pause) = retry::pause(error, repeats, deadline) else { return Err(error) };
            repeats += 1;
            sleep(pause).await;
        }
    }

    async fn attempt(&self, request: &Request, refused: &mut bool) -> Result<Open, AttemptError> {
        let (auth, token) = self.auth().await.map_err(AttemptError::For)?;
        let target = ServiceTarget {
            endpoint: self.endpoint.clone(),
            auth,
            model: ModelIden::new(adapter(self.provider), self.name.as_str()),
        };
        let opened = self.ask(target, request).await;
        match (opened, token, &self.key) {
            // A fetched token may have been withdrawn: one is fetched once more.
            (Err(ModelError::AuthFailed), Some(token), Key::Fetched(tokens)) if !*refused => {
                *refused = true;
                tokens.forget(&token).await;
                Err(AttemptError::Refused)
            }
            (opened, ..) => opened.map_err(AttemptError::For),
        }
    }

    async fn auth(&self) -> Result<(AuthData, Option<Token>), ModelError> {
        match &self.key {
            Key::Fixed(auth) => Ok((auth.clone(), None)),
            Key::Fetched(tokens) => {
                let token = tokens.get().await?;
                Ok((AuthData::from_single(token.secret.expose_secret()), Some(token)))
            }
        }
    }

    /// Asks once, and a server that does not stream once more, for a whole answer.
    async fn ask(&self, target: ServiceTarget, request: &Request) -> Result<Open, ModelError> {
        let key = target.auth.single_key_value().map_err(|_| ModelError::AuthFailed)?;
        if self.is_asked_whole(request) {
            return self.ask_whole(&key, request).await;
        }
        match self.ask_for_stream(target, request).await {
            Err(ModelError::Malformed) if adapter(self.provider) == AdapterKind::OpenAI => {
                let whole = self.ask_whole(&key, request).await;
                let open = whole.map_err(|_| ModelError::Malformed)?;
                self.answers_whole.store(true, Ordering::Relaxed);
                Ok(open)
            }
            opened => opened,
        }
    }

    /// Servers that speak as `OpenAI` does send parts of calls that genai drops or takes for one another: they are
    /// asked for the whole answer where it may have calls.
    fn is_asked_whole(&self, request: &Request) -> bool {
        let may_call = self.provider == Provider::Compatible && request.tools.is_some();
        may_call || self.answers_whole.load(Ordering::Relaxed)
    }

    async fn ask_for_stream(&self, target: ServiceTarget, request: &Request) -> Result<Open, ModelError> {
        let (chat, options) = (request::chat(self.provider, request), request::options(request, self.bounds));
        let stream = self.client.exec_chat_stream(target, chat, Some(&options)).await;
        Open::start(stream.map_err(|error| failure::of(&error))?.stream).await
    }

    async fn ask_whole(&self, key: &str, request: &Request) -> Result<Open, ModelError> {
        let body = completion::body(&self.name, request, self.bounds);
        let asked = completion::ask(&self.connections, (self.endpoint.base_url(), key), &body);
        let parts = timeout(self.bounds.silence, asked).await.map_err(|_| ModelError::TimedOut)??;
        Ok(Open::whole(parts))
    }
}

/// Why an attempt failed.
enum AttemptError {
    /// A token was refused, and another one is to be tried.
    Refused,
    For(ModelError),
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Remote").field(&self.0.id).finish()
    }
}
