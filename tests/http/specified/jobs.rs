//! A discovery and its progress stream, and the import of a screen.

use serde_json::{Value, json};
use toolwire::tool::context::RequestId;

use crate::http::{house::House, talk::Event};

fn lines(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.data["line"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_discovery_is_started_followed_and_found_again() {
    let house = House::new();
    let talk = house.talk("demo");
    let started = talk.post("/api/discovery", &json!({"max_candidates": 1})).await;
    assert_eq!(started.status, 202, "{started:?}");
    let started = started.json();
    let job_id = started["job_id"].as_str().unwrap();
    let status_url = started["status_url"].as_str().unwrap();
    assert_eq!(status_url, format!("/api/jobs/{job_id}/status"));
    let events = talk.open("GET", status_url, &[], "").await.all().await;
    assert_eq!(lines(&events)[0], "[10%] Starting discovery cycle...");
    let (last, before) = events.split_last().unwrap();
    assert!(before.iter().all(|event| event.name == "progress"), "{events:?}");
    assert_eq!(last.name, "done");
    assert!(last.data["result"]["suggestions"].is_array(), "{last:?}");
    // The rest of it, after any event.
    let (id, rest) = (events[1].id.as_str(), &events[2..]);
    assert_eq!(talk.open("GET", status_url, &[("last-event-id", id)], "").await.all().await, rest);
    let over = talk.send("GET", status_url, &[("last-event-id", &last.id)], "").await;
    assert_eq!(over.status, 204);
    let whole = talk.open("GET", status_url, &[("last-event-id", "")], "").await.all().await;
    assert_eq!(whole.last().unwrap().id, last.id);
    let beyond = talk.send("GET", status_url, &[("last-event-id", "100000")], "").await;
    assert_eq!(beyond.problem(), (400, "NO_SUCH_EVENT".to_owned()));
    // As it stands.
    let job = talk.send("GET", status_url, &[("accept", "application/json")], "").await.ok();
    assert_eq!(job, talk.get(&format!("/api/jobs/{job_id}")).await.ok());
    let (state, result): (&Value, &Value) = (&job["state"], &job["result"]);
    assert_eq!((state, result), (&json!("SUCCEEDED"), &last.data["result"]));
    // Nobody else's.
    let foreign = house.talk("sam").get(&format!("/api/jobs/{job_id}")).await;
    assert_eq!(foreign.problem(), (404, "UNKNOWN_JOB".to_owned()));
}

#[tokio::test]
async fn a_job_is_cancelled_and_a_repeat_is_the_same_job() {
    let house = House::new();
    let talk = house.talk("demo");
    let request_id = RequestId::generate().to_string();
    let body = json!({"request_id": request_id});
    let started = talk.post("/api/discovery", &body).await.json();
    assert_eq!(started["job_id"], json!(request_id));
    assert_eq!(talk.post("/api/discovery", &body).await.json(), started);
    let path = format!("/api/jobs/{request_id}");
    let cancelled = talk.send("DELETE", &path, &[], "").await.ok();
    // It may have ended just before.
    assert!(["CANCELLED", "SUCCEEDED"].contains(&cancelled["state"].as_str().unwrap()), "{cancelled}");
    let events = talk.open("GET", &format!("{path}/status"), &[], "").await.all().await;
    assert!(["cancelled", "done"].contains(&events.last().unwrap().name.as_str()));
}

#[tokio::test]
async fn a_discovery_that_cannot_be_is_refused() {
    let house = House::new();
    let talk = house.talk("demo");
    for body in [json!({"max_candidates": 99}), json!({"sources": ["moon"]}), json!({"when": "now"})] {
        let refused = talk.post("/api/discovery", &body).await;
        assert_eq!(refused.problem(), (400, "INVALID_REQUEST".to_owned()), "{body}");
    }
}

#[tokio::test]
async fn a_screen_is_imported_and_credentials_are_not_told() {
    let house = House::new();
    let talk = house.talk("demo");
    let body = json!({"screen_id": "default", "username": "riley@example.com", "password": "s3cret"});
    let imported = talk.post("/api/integrations/screener/import", &body).await;
    let said = imported.ok();
    let keys: Vec<_> = said.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["screen_name", "imported", "from_cache", "last_updated"]);
    assert!(said["imported"].as_u64().unwrap() > 0 && !imported.text.contains("s3cret"));
    let again = talk.post("/api/integrations/screener/import", &json!({"screen_id": "default"})).await;
    assert_eq!(again.problem(), (429, "RATE_LIMITED".to_owned()), "once a day");
    let wait: u64 = again.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((80_000..=86_400).contains(&wait), "{wait}");
    assert!(again.json()["detail"].as_str().unwrap().contains("scrape of the day"), "{again:?}");
    let half = json!({"username": "riley@example.com"});
    let refused = talk.post("/api/integrations/screener/import", &half).await;
    assert_eq!(refused.problem(), (400, "INVALID_REQUEST".to_owned()));
}
