//! The device grant (RFC 8628): a person signs in with a browser anywhere, and this program asks until it is done.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::time::sleep;
use url::Url;

use super::{
    authorization_server::{AuthorizationServer, DEVICE_CODE},
    token_answer::{OAuthError, Tokens},
    web::{Answer, NoAnswer, Web, may_lead},
};
use toolwire_base::{clock, words::one_line};
use toolwire_server::console::{self, Failure};

/// The interval between two requests if the server names none, and by which it grows.
const INTERVAL: Duration = Duration::from_secs(5);
/// The longest interval after requests that were not answered.
const LONGEST: Duration = Duration::from_mins(1);
/// The longest time that is waited for a person.
const MOST: Duration = Duration::from_mins(30);
/// Maximum length of a code that a person types.
const MAX_CODE: usize = 64;

/// What is requested.
#[derive(Clone, Copy, Debug)]
pub(super) struct Requested<'a> {
    pub(super) client_id: &'a str,
    pub(super) resource: &'a str,
    /// Separated by spaces; empty for those that the server chooses.
    pub(super) scope: &'a str,
}

/// A sign-in that waits for a person.
#[derive(Debug)]
pub(super) struct DeviceCode {
    code: SecretString,
    user_code: String,
    address: Url,
    /// The person need not type the code there.
    whole_address: Option<Url>,
    life: Duration,
    interval: Duration,
}

/// Why no sign-in begins.
#[derive(Debug)]
pub(super) enum NotBegun {
    NoAnswer(NoAnswer),
    Refused(OAuthError),
}

impl DeviceCode {
    pub(super) async fn request(
        web: &Web,
        server: &AuthorizationServer,
        requested: Requested<'_>,
    ) -> Result<Self, NotBegun> {
        let Requested { client_id, resource, scope } = requested;
        let mut form = vec![("client_id", client_id), ("resource", resource)];
        form.extend((!scope.is_empty()).then_some(("scope", scope)));
        let answer = web.post_form(&server.device_authorization, &form).await.map_err(NotBegun::NoAnswer)?;
        let from = &server.device_authorization;
        let begun = answer.status.is_success().then(|| Self::read(from, &answer.body)).flatten();
        begun.ok_or_else(|| NotBegun::Refused(OAuthError::read(&answer)))
    }

    fn read(from: &Url, body: &Value) -> Option<Self> {
        let page = |name: &str| {
            let url: Url = body[name].as_str()?.parse().ok()?;
            (matches!(url.scheme(), "https" | "http") && may_lead(from, &url)).then_some(url)
        };
        let seconds = |name: &str| body[name].as_u64().map(Duration::from_secs);
        let user_code = body["user_code"].as_str()?.to_owned();
        Some(Self {
            code: body["device_code"].as_str()?.into(),
            address: page("verification_uri")?,
            whole_address: page("verification_uri_complete"),
            life: seconds("expires_in")?.min(MOST),
            interval: seconds("interval").unwrap_or(INTERVAL).clamp(Duration::from_secs(1), MOST),
            user_code: Some(user_code).filter(|it| is_code(it))?,
        })
    }

    /// Says on standard error what the person does.
    pub(super) fn show(&self, issuer: &str) {
        let Self { address, user_code, whole_address, .. } = self;
        console::say(&format!(
            "To sign in at {issuer}, open {address} in a browser and enter the code {user_code}"
        ));
        if let Some(whole) = whole_address {
            console::say(&format!("or open {whole}, and compare the code"));
        }
    }

    /// Waits until the person has signed in.
    pub(super) async fn wait(
        self,
        web: &Web,
        server: &AuthorizationServer,
        requested: Requested<'_>,
    ) -> Result<Tokens, Failure> {
        let form = [
            ("grant_type", DEVICE_CODE),
            ("device_code", self.code.expose_secret()),
            ("client_id", requested.client_id),
            ("resource", requested.resource),
        ];
        poll(self.interval, self.life, async || web.post_form(&server.token, &form).await).await
    }
}

/// Whether a text is a code that a person can type.
fn is_code(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_CODE && one_line(text) == text
}

/// Asks until there are tokens, or it is clear that there will be none.
async fn poll(
    mut interval: Duration,
    life: Duration,
    mut ask: impl AsyncFnMut() -> Result<Answer, NoAnswer>,
) -> Result<Tokens, Failure> {
    let end = clock::now() + life;
    loop {
        sleep(interval.min(end.saturating_duration_since(clock::now()))).await;
        if clock::now() >= end {
            return Err(Failure::Failed("nobody signed in before the code expired; begin again".to_owned()));
        }
        match ask().await {
            Ok(answer) => match Tokens::read(&answer) {
                Ok(tokens) => return Ok(tokens),
                Err(error) => match error.code.as_str() {
                    "authorization_pending" => {}
                    "slow_down" => interval += INTERVAL,
                    "access_denied" => {
                        return Err(Failure::Failed("the sign-in was denied there".to_owned()));
                    }
                    "expired_token" => {
                        let what = "the code expired before anybody signed in; begin again";
                        return Err(Failure::Failed(what.to_owned()));
                    }
                    _ if error.is_passing => interval = longer(interval),
                    _ => return Err(Failure::Failed(format!("the sign-in failed: {error}"))),
                },
            },
            Err(no_answer) if no_answer.is_passing => interval = longer(interval),
            Err(no_answer) => return Err(no_answer.into()),
        }
    }
}

/// The interval after a request that the server was too busy for, or could not be asked.
fn longer(interval: Duration) -> Duration {
    (interval * 2).min(interval.max(LONGEST))
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use reqwest::StatusCode;
    use serde_json::json;

    use super::*;

    fn error(code: &str) -> Answer {
        let body = json!({"error": code});
        Answer { status: StatusCode::BAD_REQUEST, challenge: None, words: String::new(), body }
    }

    fn away() -> Result<Answer, NoAnswer> {
        Err(NoAnswer { what: "away".to_owned(), is_passing: true })
    }

    fn busy() -> Answer {
        Answer {
            status: StatusCode::SERVICE_UNAVAILABLE,
            challenge: None,
            words: String::new(),
            body: Value::Null,
        }
    }

    fn tokens() -> Answer {
        let body = json!({"access_token": "a", "token_type": "Bearer"});
        Answer { status: StatusCode::OK, challenge: None, words: String::new(), body }
    }

    /// The seconds after which each of these answers was asked for, and the end.
    async fn asked_at(
        answers: impl IntoIterator<Item = Result<Answer, NoAnswer>>,
    ) -> (Vec<u64>, Result<(), String>) {
        let (began, mut at) = (clock::now(), Vec::new());
        let mut answers: VecDeque<_> = answers.into_iter().collect();
        let ask = async || {
            at.push(began.elapsed().as_secs());
            answers.pop_front().expect("not asked again")
        };
        let end = poll(Duration::from_secs(2), Duration::from_mins(5), ask).await;
        (at, end.map(|_| ()).map_err(|failure| failure.to_string()))
    }

    #[tokio::test(start_paused = true)]
    async fn it_asks_by_the_interval_and_more_slowly_when_told_to() {
        let answers = [
            Ok(error("authorization_pending")),
            Ok(error("slow_down")),
            Ok(error("authorization_pending")),
            away(),
            Ok(busy()),
            Ok(tokens()),
        ];
        assert_eq!(asked_at(answers).await, (vec![2, 4, 11, 18, 32, 60], Ok(())));
    }

    #[tokio::test(start_paused = true)]
    async fn it_ends_with_the_person_s_no_and_with_the_code() {
        for (code, words) in [
            ("access_denied", "was denied"),
            ("expired_token", "expired"),
            ("invalid_grant", "failed: invalid_grant"),
        ] {
            let (at, end) = asked_at([Ok(error(code))]).await;
            assert_eq!(at, [2]);
            assert!(end.unwrap_err().contains(words), "{code}");
        }
        let pending = std::iter::repeat_with(|| Ok(error("authorization_pending"))).take(200);
        let (at, end) = asked_at(pending).await;
        assert_eq!(at.len(), 149);
        assert!(end.unwrap_err().contains("before the code expired"));
        let began = clock::now();
        let end = poll(Duration::from_hours(1), Duration::from_mins(1), async || away()).await;
        assert!(end.is_err() && began.elapsed() == Duration::from_mins(1), "however long the interval");
    }

    #[test]
    fn what_is_shown_is_a_page_and_a_code() {
        let read = |name: &str, value: Value| {
            let mut body = json!({"device_code": "d", "user_code": "ABCD-EFGH", "expires_in": 600,
                                  "verification_uri": "https://login.example/device", "interval": 0});
            body[name] = value;
            DeviceCode::read(&"https://login.example/code".parse().unwrap(), &body)
        };
        let code = read("a", Value::Null).unwrap();
        assert_eq!((code.interval, code.life), (Duration::from_secs(1), Duration::from_mins(10)));
        for (name, value) in [
            ("verification_uri", json!("javascript:alert(1)")),
            ("verification_uri", json!("http://login.example/device")),
            ("user_code", json!("ABCD\nor call us")),
            ("user_code", json!("")),
            ("user_code", json!("x".repeat(65))),
            ("device_code", Value::Null),
            ("expires_in", json!("600")),
        ] {
            assert!(read(name, value).is_none(), "{name}");
        }
    }
}
