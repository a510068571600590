//! The whole stack against a real server.

use std::{
    collections::HashMap,
    io,
    sync::{Mutex, MutexGuard},
    time::Duration,
};

use http::{StatusCode, header};
use serde::Deserialize;
use serde_json::Value;
use tracing_subscriber::{Layer as _, filter::Targets, fmt, fmt::format::FmtSpan, layer::SubscriberExt};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{header as has_header, method, path},
};

use super::{
    super::{
        ExpectedBody, FailureKind,
        testing::{FakeCoolDowns, PROFILE, context},
        warnings,
    },
    *,
};
use crate::upstream::{
    json::Items,
    limiter::{Budget, Budgets, MemoryLimiter},
};
use toolwire_contract::ErrorCode;
use toolwire_outgoing::Egress;
use toolwire_state::{RememberedHoldOffs, Store};

const MINUTE: Duration = Duration::from_mins(1);

fn client(profile: Profile, max_requests: u32) -> Client {
    let budget = Budget { max_requests, window: Duration::from_hours(1), min_delay: Duration::ZERO };
    let limiter = MemoryLimiter::new([(PROFILE.name, Budgets { per_user: budget, ceiling: budget })]);
    Client::new(
        profile,
        Sender::new(&Egress::default()).unwrap(),
        Arc::new(limiter),
        Arc::<FakeCoolDowns>::default(),
    )
}

async fn serving(at: &str, response: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(path(at)).respond_with(response).mount(&server).await;
    server
}

fn to(server: &MockServer, path: &str) -> Outgoing {
    Outgoing::get(format!("{}{path}", server.uri()).parse().unwrap(), ExpectedBody::Json)
}

async fn asked(server: &MockServer) -> usize {
    server.received_requests().await.unwrap().len()
}

#[tokio::test]
async fn an_answer_comes_through_and_its_request_carries_nothing_of_ours() {
    let server =
        serving("/a", ResponseTemplate::new(200).set_body_raw("{\"b\": 1}", "application/json")).await;
    let (client, context) = (client(PROFILE, 9), context(MINUTE));
    let answer = client.send(to(&server, "/a"), &context).await.unwrap();
    assert_eq!(answer.json::<serde_json::Value>().unwrap()["b"], 1);
    let sent = &server.received_requests().await.unwrap()[0];
    let mut names: Vec<_> = sent.headers.keys().map(header::HeaderName::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["accept", "accept-encoding", "host"]);
}

#[tokio::test]
async fn a_failing_server_is_asked_three_times_and_the_failure_counts_them() {
    let server = serving("/a", ResponseTemplate::new(503)).await;
    let (client, context) = (client(PROFILE, 9), context(MINUTE));
    let failure = client.send(to(&server, "/a"), &context).await.unwrap_err();
    assert_eq!((failure.kind, failure.attempts, asked(&server).await), (FailureKind::Down, 3, 3));
    assert_eq!(failure.source_title, "Toy Forum");
    // Those of nested calls count too: they are the same tree.
    let failure = client.send(to(&server, "/b"), &context.nested()).await.unwrap_err();
    assert_eq!((failure.kind, failure.attempts), (FailureKind::NotFound, 4));
}

#[tokio::test]
async fn each_attempt_takes_its_own_permit() {
    let server = serving("/a", ResponseTemplate::new(503)).await;
    let failure = client(PROFILE, 2).send(to(&server, "/a"), &context(MINUTE)).await.unwrap_err();
    assert_eq!((failure.kind, asked(&server).await), (FailureKind::Down, 2));
}

#[tokio::test]
async fn a_page_in_place_of_data_cannot_be_read_and_stops_no_other_request() {
    for page in [
        "\n<!DOCTYPE html><p>Hello",
        "\u{feff}<html><title>Maintenance</title>",
        "<head><title>Log in</title>",
    ] {
        let server = serving("/a", ResponseTemplate::new(200).set_body_raw(page, "application/json")).await;
        let (client, context) = (client(PROFILE, 9), context(MINUTE));
        for attempts in [1, 2] {
            let failure = client.send(to(&server, "/a"), &context).await.unwrap_err();
            assert_eq!((failure.kind, failure.attempts), (FailureKind::Malformed, attempts), "{page}");
            assert_eq!(failure.retry_after, None, "{page}");
        }
        assert_eq!(asked(&server).await, 2, "{page}");
    }
}

#[tokio::test]
async fn a_page_that_is_known_to_refuse_blocks_and_nothing_is_asked_after_it() {
    let page = |text: &str| ResponseTemplate::new(200).set_body_raw(text.to_owned(), "text/html");
    let pages = [
        page("<!DOCTYPE html><html><head><title>Just a moment...</title>"),
        page("<html><head><meta charset=utf-8>\n<title>Attention Required! | Cloudflare</title>"),
        page("<HTML><HEAD>\n<TITLE>Access Denied</TITLE>"),
        page("").insert_header("cf-mitigated", "challenge"),
    ];
    for page in pages {
        let what = format!("{page:?}");
        let server = serving("/a", page).await;
        let (client, context) = (client(PROFILE, 9), context(MINUTE));
        for attempts in [1, 1] {
            let failure = client.send(to(&server, "/a"), &context).await.unwrap_err();
            assert_eq!((failure.kind, failure.attempts), (FailureKind::Blocked, attempts), "{what}");
        }
        assert_eq!(asked(&server).await, 1, "{what}");
    }
}

#[tokio::test]
async fn what_is_lost_of_an_answer_is_reported_to_its_call_and_to_no_other() {
    let body = r#"{"items": [1, "x", {}], "name": "cut \ud83d"}"#;
    let server = serving("/a", ResponseTemplate::new(200).set_body_raw(body, "application/json")).await;
    let (client, one) = (client(PROFILE, 9), context(MINUTE));
    let other = one.nested();
    let answer = client.send(to(&server, "/a"), &one).await.unwrap();
    let read = |answer: &Answer| answer.json::<HashMap<Box<str>, Value>>();
    assert!(client.read(answer.clone(), &other, read).await.is_ok());
    let read = |answer: &Answer| answer.json::<Page>().map(|page| page.items.read);
    for _ in 0..2 {
        assert_eq!(client.read(answer.clone(), &one, read).await.unwrap(), [1]);
    }
    let texts = |count| format!("{count} in the answer of {} can be read only in part.", PROFILE.title);
    let items = format!("4 items in the answer of {} cannot be read and are left out.", PROFILE.title);
    assert_eq!(warnings(&one), [items, texts("2 texts")]);
    assert_eq!(warnings(&other), [texts("1 text")]);
    assert_eq!(warnings(&one), [""; 0], "once");
}

#[derive(Deserialize)]
struct Page {
    items: Items<u32>,
}

#[tokio::test]
async fn a_source_checks_its_own_answers_first_and_what_is_accepted_is_not_checked() {
    let server = serving("/a", ResponseTemplate::new(404)).await;
    let check = |answer: &Answer| (answer.status == 404).then(|| Failure::malformed("as I see it"));
    let client = client(Profile { check, ..PROFILE }, 9);
    let failure = client.send(to(&server, "/a"), &context(MINUTE)).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Malformed);
    let accepting = to(&server, "/a").accepting(StatusCode::NOT_FOUND);
    assert!(client.send(accepting, &context(MINUTE)).await.is_ok());
}

#[tokio::test]
async fn redirects_within_the_origin_are_followed_through_the_stack() {
    let server = serving("/a", ResponseTemplate::new(302).insert_header("location", "/b")).await;
    let on = ResponseTemplate::new(308).insert_header("location", "/c");
    Mock::given(path("/b")).respond_with(on).mount(&server).await;
    let found = ResponseTemplate::new(200).set_body_raw("{}", "application/json");
    let with_cookie = Mock::given(path("/c")).and(method("GET")).and(has_header("cookie", "c=1"));
    with_cookie.respond_with(found).mount(&server).await;
    let (client, context) = (client(PROFILE, 3), context(MINUTE));
    let outgoing = || to(&server, "/a").with_header(header::COOKIE, "c=1".parse().unwrap());
    let answer = client.send(outgoing(), &context).await.unwrap();
    assert_eq!(answer.url.path(), "/c");
    // Each took a permit.
    let failure = client.send(outgoing(), &context).await.unwrap_err();
    assert_eq!((failure.kind, failure.attempts), (FailureKind::OverBudget, 3));
}

#[tokio::test]
async fn redirects_are_not_followed_elsewhere_nor_round_in_circles_nor_with_a_form() {
    let other = serving("/b", ResponseTemplate::new(200)).await;
    let away = ResponseTemplate::new(307).insert_header("location", format!("{}/b", other.uri()).as_str());
    let server = serving("/away", away).await;
    for (from, to) in [("/itself", "/itself"), ("/one", "/two"), ("/two", "/one"), ("/form", "/nowhere")] {
        let on = ResponseTemplate::new(302).insert_header("location", to);
        Mock::given(path(from)).respond_with(on).mount(&server).await;
    }
    let (client, context) = (client(PROFILE, 20), context(MINUTE));
    let form = Outgoing::post_form(to(&server, "/form").url, &[], ExpectedBody::Json);
    let requests =
        [(to(&server, "/away"), 1), (to(&server, "/itself"), 1), (to(&server, "/one"), 4), (form, 1)];
    for (outgoing, requests) in requests {
        let before = asked(&server).await;
        let failure = client.send(outgoing, &context).await.unwrap_err();
        assert_eq!((failure.kind, asked(&server).await - before), (FailureKind::Malformed, requests));
    }
    assert_eq!(asked(&other).await, 0);
    let accepting = to(&server, "/away").accepting(StatusCode::TEMPORARY_REDIRECT);
    assert_eq!(client.send(accepting, &context).await.unwrap().status, 307, "the connector's to judge");
}

#[tokio::test]
async fn a_part_that_asks_for_a_pause_holds_off_no_other() {
    const GAZETTE: Part = Part { name: "toy_forum/gazette", title: "The Gazette" };
    for status in [429, 503] {
        let pause = ResponseTemplate::new(status).insert_header("retry-after", "3600");
        let server = serving("/busy", pause).await;
        let found = ResponseTemplate::new(200).set_body_raw("{}", "application/json");
        Mock::given(path("/a")).respond_with(found).mount(&server).await;
        let (client, context) = (client(PROFILE, 9), context(MINUTE));
        let gazette = client.apart(GAZETTE);
        assert!(gazette.send(to(&server, "/busy"), &context).await.is_err());
        let held = gazette.send(to(&server, "/a"), &context).await.unwrap_err();
        assert_eq!((held.kind, held.source_title), (FailureKind::OverBudget, "The Gazette"));
        assert!(client.send(to(&server, "/a"), &context).await.is_ok());
        assert!(client.send(to(&server, "/busy"), &context).await.is_err());
        let part = client.apart(Part { name: "toy_forum/post", ..GAZETTE });
        assert_eq!(part.send(to(&server, "/a"), &context).await.unwrap_err().kind, FailureKind::OverBudget);
        assert_eq!(asked(&server).await, 3, "each pause is obeyed at once, and none is asked into");
    }
}

#[tokio::test]
async fn a_pause_is_obeyed_by_another_process_for_the_part_that_asked_for_it() {
    const GAZETTE: Part = Part { name: "toy_forum/gazette", title: "The Gazette" };
    let pause = ResponseTemplate::new(429).insert_header("retry-after", "3600");
    let server = serving("/busy", pause).await;
    let found = ResponseTemplate::new(200).set_body_raw("{}", "application/json");
    Mock::given(path("/a")).respond_with(found).mount(&server).await;
    let state = Arc::new(Store::in_memory());
    let process = || {
        let hold_offs = RememberedHoldOffs::new(Arc::clone(&state) as _, [PROFILE.name]);
        client(PROFILE, 9).with_hold_offs(Arc::new(hold_offs))
    };
    let (one, other, context) = (process(), process(), context(MINUTE));
    assert!(one.apart(GAZETTE).send(to(&server, "/busy"), &context).await.is_err());
    let held = other.apart(GAZETTE).send(to(&server, "/a"), &context).await.unwrap_err();
    assert_eq!((held.kind, held.source_title), (FailureKind::OverBudget, "The Gazette"));
    assert!(other.send(to(&server, "/a"), &context).await.is_ok());
    assert_eq!(asked(&server).await, 2);
}

#[tokio::test]
async fn a_state_that_cannot_be_used_stops_no_request_and_a_pause_holds_in_this_process() {
    let pause = ResponseTemplate::new(503).insert_header("retry-after", "3600");
    let server = serving("/busy", pause).await;
    let found = ResponseTemplate::new(200).set_body_raw("{}", "application/json");
    Mock::given(path("/a")).respond_with(found).mount(&server).await;
    let nowhere = RememberedHoldOffs::new(Arc::new(Store::unavailable("there is no place")), [PROFILE.name]);
    let (client, context) = (client(PROFILE, 9).with_hold_offs(Arc::new(nowhere)), context(MINUTE));
    assert!(client.send(to(&server, "/a"), &context).await.is_ok());
    assert!(client.send(to(&server, "/busy"), &context).await.is_err());
    assert_eq!(client.send(to(&server, "/a"), &context).await.unwrap_err().kind, FailureKind::OverBudget);
}

#[tokio::test]
async fn a_cancelled_call_asks_nothing() {
    let server = serving("/a", ResponseTemplate::new(200)).await;
    let context = context(MINUTE);
    context.cancellation.cancel(toolwire_tool::context::StopCause::Cancelled);
    let failure = client(PROFILE, 9).send(to(&server, "/a"), &context).await.unwrap_err();
    let error = toolwire_contract::ToolError::from(failure);
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::Cancelled, "Request was cancelled"));
    assert_eq!(asked(&server).await, 0);
}

/// A log that can be read.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

struct Writer<'a>(MutexGuard<'a, Vec<u8>>);

impl io::Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> fmt::MakeWriter<'a> for Log {
    type Writer = Writer<'a>;

    fn make_writer(&'a self) -> Writer<'a> {
        Writer(self.0.lock().unwrap())
    }
}

#[tokio::test]
async fn a_failure_is_logged_once_with_its_spans_and_without_secrets() {
    let log = Log::default();
    let layer = fmt::layer().with_ansi(false).with_writer(log.clone()).with_span_events(FmtSpan::CLOSE);
    let layer = layer.with_filter(Targets::new().with_target("toolwire", tracing::Level::TRACE));
    let _subscriber = toolwire_base::capture::capture(tracing_subscriber::registry().with(layer));

    let refusal =
        ResponseTemplate::new(401).set_body_string("s3cret").insert_header("set-cookie", "a=s3cret");
    let server = serving("/quotes", refusal).await;
    let url = server.uri().replace("http://", "http://s3cret:s3cret@");
    let url = format!("{url}/quotes?crumb=s3cret").parse().unwrap();
    let outgoing = Outgoing::post_form(url, &[("password", "s3cret")], ExpectedBody::Json)
        .with_header(header::AUTHORIZATION, "Basic s3cret".parse().unwrap());
    let context = context(MINUTE);
    let failure = client(PROFILE, 9).send(outgoing, &context).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::AuthFailed);

    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(!text.contains("s3cret"), "{text}");
    let lines: Vec<_> = text.lines().filter(|line| line.contains("source failed")).collect();
    let [line] = lines.as_slice() else { panic!("one line: {text}") };
    let call_id = format!("call_id={}", context.call_id);
    for part in ["WARN", "source=\"toy_forum\"", "kind=\"auth_failed\"", "HTTP 401", "attempts=1", &call_id] {
        assert!(line.contains(part), "{part}: {line}");
    }
    let span = text.lines().find(|line| line.contains("upstream{") && line.contains("close")).unwrap();
    for part in [
        "otel.name=\"POST\"",
        "otel.kind=\"client\"",
        "http.request.method=\"POST\"",
        "server.address=\"127.0.0.1\"",
        "http.response.status_code=401",
        "/quotes?REDACTED",
        "otel.status_code=\"error\"",
        "error.type=\"auth_failed\"",
    ] {
        assert!(span.contains(part), "{part}: {span}");
    }
}
