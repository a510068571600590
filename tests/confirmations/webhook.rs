//! Webhooks: signed, told until they take it, and never believed.

use std::{
    collections::{HashSet, VecDeque},
    sync::Mutex,
    time::{Duration, UNIX_EPOCH},
};

use crate::support::state;
use data_encoding::BASE64;
use ring::hmac;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use toolwire::config::{Webhook, webhook_secret};
use wiremock::{Mock, MockServer, Request as Received, Respond, ResponseTemplate, matchers::any};

use super::*;

const OLD: &str = "whsec_b2xkLW9sZC1vbGQtb2xkLW9sZC1vbGQtb2xk";
const NEW: &str = "whsec_bmV3LW5ldy1uZXctbmV3LW5ldy1uZXctbmV3";

/// A receiver that answers as it is told, at last always with 204.
struct Receiver {
    server: MockServer,
    came: UnboundedReceiver<Received>,
    /// What a receiver remembers against replays.
    seen: HashSet<String>,
}

struct Script {
    answers: Mutex<VecDeque<ResponseTemplate>>,
    came: UnboundedSender<Received>,
}

impl Respond for Script {
    fn respond(&self, request: &Received) -> ResponseTemplate {
        let _ = self.came.send(request.clone());
        self.answers.lock().unwrap().pop_front().unwrap_or_else(|| ResponseTemplate::new(204))
    }
}

impl Receiver {
    async fn new(answers: impl IntoIterator<Item = ResponseTemplate>) -> Self {
        let (sender, came) = unbounded_channel();
        let server = MockServer::start().await;
        let script = Script { answers: Mutex::new(answers.into_iter().collect()), came: sender };
        Mock::given(any()).respond_with(script).mount(&server).await;
        Self { server, came, seen: HashSet::new() }
    }

    fn webhook(&self, secrets: &[&str]) -> Webhook {
        let secrets = secrets.iter().map(|text| webhook_secret(text).unwrap()).collect();
        let retries = vec![Duration::from_millis(50); 4];
        Webhook { retries, ..Webhook::new(format!("{}/hook", self.server.uri()).parse().unwrap(), secrets) }
    }

    /// The next message, with its name.
    async fn next(&mut self) -> (Received, String) {
        let request = tokio::time::timeout(Duration::from_mins(1), self.came.recv()).await;
        let request = request.expect("in time").expect("a request");
        let id = header(&request, "webhook-id");
        (request, id)
    }

    /// What the reference verifiers of Standard Webhooks do, written from its specification.
    fn verify(&mut self, request: &Received, secret: &str) -> Result<Value, &'static str> {
        let (id, timestamp) = (header(request, "webhook-id"), header(request, "webhook-timestamp"));
        let sent = UNIX_EPOCH + Duration::from_secs(timestamp.parse().map_err(|_| "no timestamp")?);
        let age = toolwire::base::clock::wall().duration_since(sent).unwrap_or_default();
        if age > Duration::from_mins(5) {
            return Err("too old");
        }
        let key = BASE64.decode(secret.strip_prefix("whsec_").unwrap().as_bytes()).unwrap();
        let signed = [id.as_bytes(), b".", timestamp.as_bytes(), b".", &request.body].concat();
        let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
        let signatures = header(request, "webhook-signature");
        let fits = signatures.split(' ').filter_map(|it| it.strip_prefix("v1,")).any(|it| {
            BASE64.decode(it.as_bytes()).is_ok_and(|tag| hmac::verify(&key, &signed, &tag).is_ok())
        });
        if !fits {
            return Err("no signature fits");
        }
        if !self.seen.insert(id) {
            return Err("seen before");
        }
        serde_json::from_slice(&request.body).map_err(|_| "no JSON")
    }
}

fn header(request: &Received, name: &str) -> String {
    request.headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
}

fn house(webhook: Webhook) -> House {
    House::with(|config| {
        config.auth = users();
        config.confirmations.webhooks = vec![webhook];
    })
}

/// Asks until a server that has just begun tells it: before, nobody has subscribed.
async fn asks(receiver: &mut Receiver, person: &Person) -> (ConfirmationRequired, Received, String) {
    loop {
        let asked = person.asks(RequestId::generate(), "s3cret-words").await;
        if let Ok(Some(request)) = tokio::time::timeout(Duration::from_secs(2), receiver.came.recv()).await {
            let id = header(&request, "webhook-id");
            return (asked, request, id);
        }
    }
}

#[tokio::test]
async fn what_is_asked_decided_and_expired_is_told_signed_and_without_arguments() {
    let mut receiver = Receiver::new([]).await;
    let house = house(receiver.webhook(&[NEW, OLD]));
    let (riley, alex) = (house.person("riley").await, house.person("alex").await);
    let (asked, request, _) = asks(&mut receiver, &riley).await;
    assert!(
        !String::from_utf8_lossy(&request.body).contains("s3cret-words"),
        "arguments are for who may see them"
    );
    for secret in [OLD, NEW] {
        // While a secret is replaced, receivers with either know the sender.
        receiver.seen.clear();
        let told = receiver.verify(&request, secret).unwrap();
        assert_eq!(told["type"], "confirmation.requested");
        assert_eq!(told["data"]["confirmation_id"], asked.confirmation_id);
        assert_eq!(told["data"]["state"], "pending");
    }
    assert_eq!(receiver.verify(&request, OLD), Err("seen before"), "a replay");
    assert_eq!(receiver.verify(&request, "whsec_eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4"), Err("no signature fits"));

    alex.deny(&asked.confirmation_id).await.unwrap();
    let (request, _) = receiver.next().await;
    let told = receiver.verify(&request, NEW).unwrap();
    assert_eq!((&told["type"], &told["data"]["state"]), (&json!("confirmation.decided"), &json!("denied")));
    assert_eq!(
        (&told["data"]["decided_by"], &told["data"]["on_behalf_of"]),
        (&json!("alex"), &json!("chat:42"))
    );
}

/// What an endpoint answers decides nothing, whatever it is; and a message has one name however often it is sent.
#[tokio::test]
async fn a_webhook_is_told_again_under_the_same_name_until_it_takes_it_and_redirects_are_not_followed() {
    let elsewhere = MockServer::start().await;
    let redirect = ResponseTemplate::new(307).insert_header("location", elsewhere.uri());
    let approves = json!({"decision": "approve", "state": "approved"});
    let mut receiver = Receiver::new([
        ResponseTemplate::new(500),
        redirect,
        ResponseTemplate::new(204).set_delay(Duration::from_secs(11)),
        ResponseTemplate::new(200).set_body_json(approves),
    ])
    .await;
    let house = house(receiver.webhook(&[NEW]));
    let riley = house.person("riley").await;
    let (asked, first, id) = asks(&mut receiver, &riley).await;
    for attempt in ["redirected", "hangs", "taken"] {
        let (request, again) = receiver.next().await;
        assert_eq!(again, id, "{attempt}");
        assert_eq!(request.body, first.body, "{attempt}");
    }
    assert!(elsewhere.received_requests().await.unwrap().is_empty(), "a redirect is not followed");
    assert_eq!(riley.state(&asked.confirmation_id).await, ConfirmationState::Pending);
    // Taken, it is not sent again: what comes next is of another change.
    house.person("alex").await.deny(&asked.confirmation_id).await.unwrap();
    let (next, other) = receiver.next().await;
    assert_ne!(other, id);
    assert_eq!(receiver.verify(&next, NEW).unwrap()["type"], "confirmation.decided");
}

/// A message that is stored is delivered by whoever serves next.
#[tokio::test]
async fn what_was_not_told_before_a_restart_is_told_after_it() {
    let state = tempfile::tempdir().unwrap();
    let of = |webhook: Webhook| {
        House::with(|config| {
            state::keep_in(&mut config.state, state.path());
            config.confirmations.webhooks = vec![webhook];
        })
    };
    let mut receiver = Receiver::new([ResponseTemplate::new(503)]).await;
    let webhook = Webhook { retries: vec![Duration::from_secs(3); 4], ..receiver.webhook(&[NEW]) };
    let first = of(webhook.clone());
    let (_, _, id) = asks(&mut receiver, &first.person("riley").await).await;
    first.server.shut_down().await;
    let _second = of(webhook);
    assert_eq!(receiver.next().await.1, id);
}
