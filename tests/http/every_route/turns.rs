//! A turn that wants a write, by each route that begins or resumes one: nothing is written without an approval of just
//! that call, and then once.

use std::time::Duration;

use serde_json::{Value, json};
use toolwire::tool::context::RequestId;

use super::confirming::{approval, decide, over};
use crate::http::{
    house::House,
    talk::{Answer, Talk},
};

const WRITE: &str = "Add Infosys to my watchlist";

/// A route by which a turn begins, and one by which it is resumed.
const DOORS: [(&str, &str); 5] = [
    ("/api/chat", "/agent/chat"),
    ("/agent/chat", "/agent/chat"),
    ("/agent/stream", "/agent/stream"),
    ("/copilotkit/action", "/copilotkit/action"),
    ("/copilotkit/stream", "/copilotkit/stream"),
];

/// What is done between the question and the answer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Between {
    Nothing,
    Denied,
    Expired,
    Changed,
    Approved,
}

/// A turn that waits.
struct Paused {
    turn: String,
    confirmation: String,
}

async fn begin(talk: &Talk, door: &str, session: &str) -> Paused {
    let turn = RequestId::generate().to_string();
    let message = json!([{"id": "m", "role": "user", "content": WRITE}]);
    let body = match door {
        "/api/chat" => json!({"message": WRITE, "session_id": session}),
        "/agent/chat" | "/agent/stream" => {
            json!({"message": WRITE, "session_id": session, "request_id": turn})
        }
        _ => json!({"action": "chat", "threadId": session, "runId": turn, "messages": message}),
    };
    let told = talk.post(door, &body).await;
    let named = told.headers.get("x-toolwire-turn-id").map(|id| id.to_str().unwrap().to_owned());
    let at = told.text.find("conf_").unwrap_or_else(|| panic!("{door}: {told:?}"));
    let confirmation: String =
        told.text[at..].chars().take_while(|it| it.is_ascii_alphanumeric() || *it == '_').collect();
    Paused { turn: named.unwrap_or(turn), confirmation }
}

async fn resume(talk: &Talk, door: &str, session: &str, paused: &Paused) -> Answer {
    let body = match door {
        "/agent/chat" | "/agent/stream" => json!({"resume": {"turn_id": paused.turn}}),
        _ => {
            // It leaves the decision to who has made it.
            let entry = json!({"interruptId": paused.confirmation, "status": "resolved"});
            json!({"action": "chat", "threadId": session, "resume": [entry]})
        }
    };
    talk.post(door, &body).await
}

async fn watched(talk: &Talk) -> Value {
    talk.post("/v1/tools/browse_watchlist:call", &json!({})).await.ok()["data"]["items"].clone()
}

async fn is_watched(talk: &Talk) -> bool {
    watched(talk).await.to_string().contains("INFY")
}

#[tokio::test]
async fn a_turn_writes_what_was_approved_and_nothing_else() {
    use Between::{Approved, Changed, Denied, Expired, Nothing};
    let house = House::new();
    let unused = House::with(|config| config.confirmations.use_within = Duration::from_millis(1));
    let mut version = 0;
    for (number, (door, back)) in DOORS.into_iter().enumerate() {
        for between in [Nothing, Denied, Expired, Changed, Approved] {
            let house = if between == Expired { &unused } else { &house };
            let (owner, other) = (format!("user-{number}-{between:?}"), house.talk("other"));
            let talk = house.talk(&owner);
            let paused = begin(&talk, door, "s").await;
            assert_eq!(decide(&other, &paused.confirmation, approval()).await.status, 404);
            assert!(resume(&other, back, "s", &paused).await.problem().0 < 500);
            assert!(!is_watched(&talk).await, "{door} {between:?}: written before it was approved");
            match between {
                Nothing => {}
                Denied => {
                    decide(&talk, &paused.confirmation, json!({"deny": {"reason": "no"}})).await.ok();
                }
                Expired | Changed | Approved => {
                    decide(&talk, &paused.confirmation, approval()).await.ok();
                }
            }
            match between {
                Expired => over(&talk, &paused.confirmation).await,
                Changed => {
                    version += 1;
                    house.patch("add_to_watchlist", &json!({"title": format!("Version {version}")}));
                }
                _ => {}
            }
            // Nobody else goes on with it, and for nobody else.
            assert!(resume(&other, back, "s", &paused).await.problem().0 < 500);
            let told = resume(&talk, back, "s", &paused).await;
            assert!(told.status < 300, "{door} {between:?}: {told:?}");
            assert_eq!(is_watched(&talk).await, between == Approved, "{door} {between:?}: {told:?}");
            assert!(!is_watched(&other).await);
            if between == Approved {
                assert!(resume(&talk, back, "s", &paused).await.problem().0 < 500);
            }
        }
    }
}
