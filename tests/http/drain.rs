//! The way out over HTTP.

use std::{future::pending, time::Duration};

use tokio::net::TcpStream;

use crate::{
    http::{
        raw::Raw,
        toys::{INVOKE, READY, Toys, WATCH},
    },
    support::server::config_with_http,
};

const JSON: &str = "content-type: application/json";

fn draining(lame_duck: Duration) -> Toys {
    let mut config = config_with_http();
    config.server.drain.lame_duck = lame_duck;
    Toys::with(config)
}

#[tokio::test]
async fn idle_connections_are_closed_and_watches_say_their_last_word() {
    let toys = draining(Duration::from_millis(50));
    let http = toys.http;
    let mut idle = Raw::connect(http).await;
    idle.ask("GET", READY, &[], "").await;
    assert_eq!(idle.answer().await.status, 200);
    let mut watch = Raw::connect(http).await;
    watch.ask("GET", WATCH, &[], "").await;
    watch.until("event: first").await;
    let mut silent = Raw::connect(http).await;

    let (report, idle, told, silent) =
        tokio::join!(toys.server.shut_down(), idle.rest(), watch.rest(), silent.rest());
    assert_eq!((idle.as_str(), silent.as_str()), ("", ""));
    assert!(told.contains("event: error\ndata: {") && told.contains("\"code\":\"DRAINING\""), "{told}");
    assert!(told.ends_with("0\r\n\r\n"), "the stream ends as streams do: {told}");
    assert_eq!(report.streams_cut, 0);
    assert!(TcpStream::connect(http).await.is_err(), "the listener is still open");
}

#[tokio::test]
async fn while_it_drains_each_answer_sends_its_client_elsewhere() {
    let toys = draining(Duration::from_secs(3));
    let (http, mut before) = (toys.http, Raw::connect(toys.http).await);
    before.ask("GET", READY, &[], "").await;
    assert!(!before.answer().await.headers.contains_key("connection"));
    let ended = tokio::spawn(toys.server.shut_down());
    let sent_away = async {
        loop {
            let mut raw = Raw::connect(http).await;
            raw.ask("GET", READY, &[], "").await;
            let answer = raw.answer().await;
            assert_eq!(answer.status, 200);
            if answer.headers.get("connection").is_some_and(|it| it == "close") {
                return raw.rest().await;
            }
        }
    };
    assert_eq!(sent_away.await, "");
    before.ask("GET", READY, &[], "").await;
    assert_eq!(before.answer().await.headers["connection"], "close");
    assert_eq!(ended.await.unwrap().streams_cut, 0);
}

#[tokio::test]
async fn a_call_under_way_is_finished() {
    let toys = draining(Duration::from_millis(10));
    let mut call = Raw::connect(toys.http).await;
    call.ask("POST", &format!("{INVOKE}/debug_sleep"), &[JSON], r#"{"duration": "0.5s"}"#).await;
    call.until("event: step").await;
    let (report, told) = tokio::join!(toys.server.shut_down(), call.rest());
    assert!(told.contains("slept") || told.contains("Slept"), "{told}");
    assert!(!told.contains("event: error") && told.ends_with("0\r\n\r\n"), "{told}");
    assert_eq!(report.streams_cut, 0);
}

#[tokio::test]
async fn what_does_not_leave_is_cut_at_the_forced_end() {
    let mut config = config_with_http();
    config.server.drain.lame_duck = Duration::from_millis(10);
    config.server.drain.forced_end = Duration::from_millis(300);
    let toys = Toys::with(config);
    let mut call = Raw::connect(toys.http).await;
    call.ask("POST", &format!("{INVOKE}/debug_sleep"), &[JSON], r#"{"duration": "60s"}"#).await;
    call.until("event: step").await;
    let report = tokio::select! {
        report = toys.server.shut_down() => report,
        () = pending() => unreachable!(),
    };
    assert_eq!(report.streams_cut, 1);
}
