//! The token of a sign-in while a command runs: refreshed before it expires, by one process at a time.

use futures_util::future::BoxFuture;
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Mutex;
use tonic::{Code, Status};

use super::{
    authorization_server::REFRESH_TOKEN,
    token_answer::Tokens,
    token_store::{SignIn, TokenStore},
    web::Web,
};
use toolwire_base::clock;
use toolwire_contract::status;
use toolwire_server::client::TokenSource;

#[derive(Debug)]
pub(super) struct CurrentToken {
    store: TokenStore,
    web: Web,
    sign_in: Mutex<SignIn>,
}

impl CurrentToken {
    pub(super) fn new(store: TokenStore, web: Web, sign_in: SignIn) -> Self {
        Self { store, web, sign_in: Mutex::new(sign_in) }
    }

    async fn get(&self) -> Result<SecretString, String> {
        let mut sign_in = self.sign_in.lock().await;
        let now = clock::wall();
        if sign_in.is_due(now) {
            match self.refresh(&sign_in).await {
                Ok(renewed) => *sign_in = renewed,
                // What is valid still may be refreshed by the next request.
                Err(_) if sign_in.is_valid(now) => {}
                Err(what) => return Err(what),
            }
        }
        Ok(sign_in.access_token.clone())
    }

    async fn refresh(&self, due: &SignIn) -> Result<SignIn, String> {
        let _locked = self.store.lock(due).await.map_err(|failure| failure.to_string())?;
        let kept = self.store.read(&due.server, &due.issuer, &due.resource);
        let ended = |why: &str| {
            let (url, server) = (&due.url, &due.server);
            format!(
                "the sign-in at {} has ended ({why}): `toolwire login {url} --server {server}`",
                due.issuer
            )
        };
        let kept = kept.map_err(|failure| failure.to_string())?.ok_or_else(|| ended("it was removed"))?;
        // Another process may have refreshed it meanwhile, and most refresh tokens serve once.
        if !kept.is_due(clock::wall()) {
            return Ok(kept);
        }
        let Some(refresh_token) = &kept.refresh_token else { return Err(ended("the token has expired")) };
        let form = [
            ("grant_type", REFRESH_TOKEN),
            ("refresh_token", refresh_token.expose_secret()),
            ("client_id", kept.client_id.as_str()),
            ("resource", kept.resource.as_str()),
        ];
        let answer = self.web.post_form(&kept.token_endpoint, &form).await;
        let answer =
            answer.map_err(|no_answer| format!("the token cannot be refreshed: {}", no_answer.what))?;
        let tokens = Tokens::read(&answer).map_err(|error| ended(&error.to_string()))?;
        let renewed = kept.with(tokens, clock::wall());
        self.store.keep(&renewed).map_err(|failure| failure.to_string())?;
        Ok(renewed)
    }
}

impl TokenSource for CurrentToken {
    fn token(&self) -> BoxFuture<'_, Result<SecretString, Status>> {
        Box::pin(async move {
            let token = self.get().await;
            token.map_err(|what| status::plain(Code::Unauthenticated, "CREDENTIALS_REJECTED", &what))
        })
    }
}
