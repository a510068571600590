//! The token of a sign-in while a command runs: refreshed before it expires, by one process at a time.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Mutex;
use tonic::{Code, Status};

use super::{
    authorization_server::REFRESH_TOKEN, command, record::SignIn, token_answer::Tokens,
    token_store::TokenStore, web::Web,
};
use toolwire_base::clock;
use toolwire_contract::status;
use toolwire_server::{client::TokenSource, console::Failure};

#[derive(Debug)]
pub(super) struct CurrentToken(Arc<Refreshed>);

/// A sign-in with what refreshes it.
#[derive(Debug)]
struct Refreshed {
    store: TokenStore,
    web: Web,
    sign_in: Mutex<SignIn>,
}

/// Why there is no token.
#[derive(Debug)]
enum NoToken {
    /// A person must sign in again.
    Ended(String),
    /// The authorization server may issue one later.
    Unavailable(String),
}

impl CurrentToken {
    pub(super) fn new(store: TokenStore, web: Web, sign_in: SignIn) -> Self {
        Self(Arc::new(Refreshed { store, web, sign_in: Mutex::new(sign_in) }))
    }
}

impl Refreshed {
    async fn token(&self) -> Result<SecretString, NoToken> {
        let mut sign_in = self.sign_in.lock().await;
        // A person may have signed in again since, such as for more scopes.
        if let Some(kept) = self.store.reread(&sign_in)? {
            *sign_in = kept;
        }
        let now = clock::wall();
        if sign_in.is_due(now) {
            match self.refresh(&sign_in).await {
                Ok(renewed) => *sign_in = renewed,
                // What is valid still may be refreshed by the next request.
                Err(_) if sign_in.is_valid(now) => {}
                Err(why) => return Err(why),
            }
        }
        Ok(sign_in.access_token.clone())
    }

    async fn refresh(&self, due: &SignIn) -> Result<SignIn, NoToken> {
        let locked = self.store.lock(&due.server, &due.issuer, &due.resource).await?;
        let ended = |why: &str| {
            let SignIn { url, server, issuer, .. } = due;
            NoToken::Ended(format!("the sign-in at {issuer} has ended ({why}): `{}`", command(url, server)))
        };
        let kept = locked.read()?.ok_or_else(|| ended("it was removed"))?;
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
        let unavailable = |why: &str| {
            NoToken::Unavailable(format!("the token cannot be refreshed now, try again later: {why}"))
        };
        let answer = self.web.post_form(&kept.token_endpoint, &form).await;
        let answer = answer.map_err(|no_answer| unavailable(&no_answer.what))?;
        let tokens = Tokens::read(&answer).map_err(|error| {
            if error.is_passing { unavailable(&error.to_string()) } else { ended(&error.to_string()) }
        })?;
        let renewed = kept.with(tokens, clock::wall());
        locked.keep(&renewed)?;
        Ok(renewed)
    }
}

impl TokenSource for CurrentToken {
    fn token(&self) -> BoxFuture<'_, Result<SecretString, Status>> {
        let refreshed = Arc::clone(&self.0);
        // In a task of its own: a request that is given up meanwhile must not lose a refresh token that serves once.
        let token = tokio::spawn(async move { refreshed.token().await });
        Box::pin(async move {
            let token = token.await.map_err(|error| Status::internal(error.to_string()))?;
            token.map_err(Status::from)
        })
    }
}

impl From<Failure> for NoToken {
    fn from(failure: Failure) -> Self {
        Self::Ended(failure.to_string())
    }
}

impl From<NoToken> for Status {
    fn from(why: NoToken) -> Self {
        match why {
            NoToken::Ended(what) => status::plain(Code::Unauthenticated, "CREDENTIALS_REJECTED", &what),
            NoToken::Unavailable(what) => {
                status::plain(Code::Unavailable, "AUTHENTICATION_UNAVAILABLE", &what)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::{TcpListener, TcpStream},
    };

    use super::*;

    /// A sign-in whose token has expired, the listener of its token endpoint, and where it is kept.
    async fn expired() -> (CurrentToken, TcpListener, TempDir) {
        let (directory, listener) =
            (tempfile::tempdir().unwrap(), TcpListener::bind("127.0.0.1:0").await.unwrap());
        let token_endpoint = format!("http://{}/token", listener.local_addr().unwrap());
        let sign_in = SignIn {
            token_endpoint: token_endpoint.parse().unwrap(),
            refresh_token: Some("r1".into()),
            issued_at: 0,
            expires_at: Some(1),
            ..SignIn::example()
        };
        let store = TokenStore::at(directory.path().join("tokens"));
        let locked = store.lock(&sign_in.server, &sign_in.issuer, &sign_in.resource).await.unwrap();
        locked.keep(&sign_in).unwrap();
        drop(locked);
        (CurrentToken::new(store, Web::new(None).unwrap(), sign_in), listener, directory)
    }

    /// The next request, whose head and form have arrived.
    async fn request(listener: &TcpListener) -> TcpStream {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut text = Vec::new();
        while !String::from_utf8_lossy(&text).contains("refresh_token=r1") {
            assert_ne!(stream.read_buf(&mut text).await.unwrap(), 0, "{text:?}");
        }
        stream
    }

    async fn respond(mut stream: TcpStream, status: &str, body: &str) {
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
        stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
    }

    #[tokio::test]
    async fn a_request_that_is_given_up_loses_no_refresh_token() {
        let (source, listener, _directory) = expired().await;
        let given_up = source.token();
        let stream = request(&listener).await;
        drop(given_up);
        respond(stream, "200 OK", r#"{"access_token": "new", "token_type": "Bearer", "expires_in": 600}"#)
            .await;
        // No further request is accepted.
        drop(listener);
        assert_eq!(source.token().await.unwrap().expose_secret(), "new");
    }

    #[tokio::test]
    async fn who_signs_in_again_is_served_by_the_new_token_from_then_on() {
        let directory = tempfile::tempdir().unwrap();
        let store = TokenStore::at(directory.path().join("tokens"));
        let source = CurrentToken::new(store.clone(), Web::new(None).unwrap(), SignIn::example());
        for token in ["t0ken", "wider"] {
            let again = SignIn { access_token: token.into(), ..SignIn::example() };
            let locked = store.lock(&again.server, &again.issuer, &again.resource).await.unwrap();
            locked.keep(&again).unwrap();
            assert_eq!(source.token().await.unwrap().expose_secret(), token);
        }
    }

    #[tokio::test]
    async fn only_what_the_authorization_server_refuses_is_a_sign_in_that_has_ended() {
        for (status, body, code, words) in [
            ("503 Service Unavailable", "", Code::Unavailable, "try again later: it answered 503"),
            ("429 Too Many Requests", "", Code::Unavailable, "try again later: it answered 429"),
            (
                "400 Bad Request",
                r#"{"error": "invalid_grant"}"#,
                Code::Unauthenticated,
                "(invalid_grant): `toolwire login",
            ),
        ] {
            let (source, listener, _directory) = expired().await;
            let token = source.token();
            respond(request(&listener).await, status, body).await;
            let refused = token.await.unwrap_err();
            assert!(refused.code() == code && refused.message().contains(words), "{status}: {refused}");
        }
        let (source, listener, _directory) = expired().await;
        drop(listener);
        assert_eq!(source.token().await.unwrap_err().code(), Code::Unavailable, "nobody listens");
    }
}
