//! A server that has forgotten its sessions, under load.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{join, sync::Notify};
use wiremock::ResponseTemplate;

use super::fake::{Asked, Fake, text};
use toolwire_providers::Effect;

/// The sessions that a server knows.
#[derive(Debug, Default)]
struct Sessions {
    known: Mutex<Vec<String>>,
    slow: Notify,
}

impl Sessions {
    fn known(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, asked: &Asked, unknown: (u16, &Value)) -> Option<ResponseTemplate> {
        if asked.is("initialize") {
            let session = format!("s{}", fastrand::u64(..));
            self.known().push(session.clone());
            let result = json!({
                "protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "f", "version": "1"}
            });
            return Some(asked.result(&result).insert_header("mcp-session-id", session.as_str()));
        }
        if asked.is("server/discover") || asked.id.is_null() {
            return None;
        }
        let session = asked.session.as_ref()?;
        if !self.known().contains(session) {
            let (status, id) = unknown;
            let id = if id == "same" { &asked.id } else { id };
            let error = json!({"code": -32600, "message": "Session not found"});
            return Some(
                ResponseTemplate::new(status)
                    .set_body_json(json!({"jsonrpc": "2.0", "id": id, "error": error})),
            );
        }
        if asked.params["arguments"]["slow"] == true {
            self.slow.notify_one();
            return Some(asked.result(&text("slow")).set_delay(Duration::from_secs(2)));
        }
        None
    }
}

#[tokio::test]
async fn a_session_that_is_forgotten_is_replaced_and_calls_under_way_get_their_answers() {
    for (status, id) in [
        (404, Value::Null),
        (404, "same".into()),
        (400, Value::Null),
        (400, "server-error".into()),
        (400, "same".into()),
        (500, Value::Null),
    ] {
        let sessions = Arc::<Sessions>::default();
        let (of_fake, unknown) = (Arc::clone(&sessions), id.clone());
        let fake = Fake::start(move |asked| of_fake.answer(asked, (status, &unknown))).await;
        let upstream = fake.upstream().await;
        assert_eq!(upstream.read("t", json!({})).await, Ok(json!({"text": "ok"})));
        let slow = upstream.read("t", json!({"slow": true}));
        let others = async {
            sessions.slow.notified().await;
            sessions.known().clear();
            // One after the other: while they run there is always a call under way.
            let mut attempt = 0;
            loop {
                attempt += 1;
                let effect = if attempt == 1 { Effect::Write } else { Effect::Read };
                match upstream.call("t", effect, json!({})).await {
                    Ok(data) => {
                        assert_eq!(data, json!({"text": "ok"}));
                        break attempt;
                    }
                    // Not before the session is known to be lost.
                    Err(_) if attempt < 20 => upstream.link.recover().await,
                    Err(error) => panic!("{status}, {id}: {error:?}"),
                }
            }
        };
        let (slow, attempts) = join!(slow, others);
        assert_eq!(slow, Ok(json!({"text": "slow"})), "{status}, {id}");
        assert_eq!(fake.count("initialize"), 2, "{status}, {id}");
        // By these nothing was done, so that the call itself is made over the new session.
        let is_plain = status == 404 || (status == 400 && id != "same");
        assert!(!is_plain || attempts == 1, "{status}, {id}: {attempts}");
    }
}
