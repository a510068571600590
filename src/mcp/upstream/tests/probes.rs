//! Servers that do not take the probe of the newer revision: whatever they do at it is an answer, and remembered.

use serde_json::json;
use wiremock::ResponseTemplate;

use super::{
    super::{connection::Session, greeting::Greeting},
    fake::{Fake, raw},
    pid,
};
use crate::upstream::testing::Upstream;
use rustix::process::{Signal, kill_process};

#[tokio::test]
async fn a_process_that_does_not_take_a_probe_is_greeted_by_initialize_and_so_from_then_on() {
    for flag in ["--strict", "--closed"] {
        let upstream = Upstream::start(&[flag]).await;
        assert_eq!(upstream.read("echo", json!({"text": "a"})).await, Ok(json!({"text": "a"})), "{flag}");
        assert_eq!(upstream.notes.count("not initialize"), 1, "{flag}");
        let process = pid(&upstream).await;
        kill_process(process, Signal::KILL).expect("running");
        assert_eq!(upstream.read("echo", json!({"text": "b"})).await, Ok(json!({"text": "b"})), "{flag}");
        assert_ne!(pid(&upstream).await, process, "another process");
        assert_eq!(upstream.notes.count("not initialize"), 1, "{flag}: it is remembered");
    }
}

#[tokio::test]
async fn a_server_over_http_may_answer_a_probe_by_anything() {
    for answer in [
        "400", "404", "405", "406", "415", "422", "500", "501", "page", "empty", "accepted", "stream",
        "broken",
    ] {
        let fake = Fake::start(move |asked| {
            asked.is("server/discover").then(|| match answer {
                "page" => raw(200, "text/html", "<html></html>"),
                "empty" => raw(200, "application/json", ""),
                "accepted" => ResponseTemplate::new(202),
                "stream" => raw(200, "text/event-stream", "data: nonsense\n\n"),
                "broken" => raw(200, "application/json", r#"{"jsonrpc":"2.0","id":7000,"result":{}}"#),
                status => raw(status.parse().expect("a status"), "text/plain", "no"),
            })
        })
        .await;
        let greeting = Greeting::default();
        for _ in 0..2 {
            let session = Box::pin(Session::open(&fake.target(), &greeting)).await;
            session.unwrap_or_else(|error| panic!("{answer}: {error}")).end().await;
        }
        assert_eq!((fake.count("server/discover"), fake.count("initialize")), (1, 2), "{answer}");
    }
}

#[tokio::test]
async fn a_server_that_takes_no_requests_is_not_asked_twice() {
    for status in [401, 403, 429, 503] {
        let fake =
            Fake::start(move |_| Some(ResponseTemplate::new(status).insert_header("retry-after", "7"))).await;
        let greeting = Greeting::default();
        let error = Box::pin(Session::open(&fake.target(), &greeting)).await.err().expect("refused");
        assert_eq!(error.to_string(), format!("it answered {status}"));
        assert_eq!((fake.count("server/discover"), fake.count("initialize")), (1, 0), "{status}");
        assert_eq!(error.retry_after().as_secs(), 7);
    }
}
