//! Feeds over a service that counts how often its watch is opened.

use std::{
    convert::Infallible,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::SystemTime,
};

use futures_util::{FutureExt, future::BoxFuture};
use http_body::Frame;
use http_body_util::StreamBody;
use tokio::{sync::mpsc, time::advance};
use tonic::body::Body;

use super::*;
use crate::faces::rest::{
    page_events::{fan_out::RESUMABLE, feeds::Feeds},
    wire,
};
use toolwire_contract::proto::v1::{CallRecord, CallWatchType, WatchCallsResponse};
use toolwire_tool::context::{Grant, KnownBy};

type Answer = BoxFuture<'static, Result<http::Response<Body>, Infallible>>;

/// A service with the watch of calls alone, whose requests are counted.
#[derive(Clone, Default)]
struct Service {
    opened: Arc<AtomicUsize>,
    watches: Arc<Mutex<Vec<mpsc::UnboundedSender<Bytes>>>>,
}

impl Service {
    fn routes(&self) -> Routes {
        let service = self.clone();
        let answer = move |_: http::Request<Body>| -> Answer {
            service.opened.fetch_add(1, SeqCst);
            let (sender, mut receiver) = mpsc::unbounded_channel();
            sender.send(response(CallWatchType::Synced, "")).unwrap();
            service.watches.lock().unwrap().push(sender);
            let frames = stream::poll_fn(move |cx| receiver.poll_recv(cx));
            let body = StreamBody::new(frames.map(|bytes| Ok::<_, Infallible>(Frame::data(bytes))));
            async { Ok::<_, Infallible>(http::Response::new(Body::new(body))) }.boxed()
        };
        let route: Box<dyn Fn(http::Request<Body>) -> Answer + Send + Sync> = Box::new(answer);
        [("toolwire.v1.ToolService", route)].into_iter().collect()
    }

    /// How many watches were opened.
    fn opened(&self) -> usize {
        self.opened.load(SeqCst)
    }

    /// Sends the end of a call to all watches that are open.
    fn send(&self, call_id: &str) {
        let response = response(CallWatchType::Ended, call_id);
        self.watches.lock().unwrap().retain(|watch| watch.send(response.clone()).is_ok());
    }

    /// Breaks all watches.
    fn fail(&self) {
        // An event that cannot be decoded.
        let broken = Bytes::from_static(&[0, 0, 0, 0, 1, 0xff]);
        self.watches.lock().unwrap().drain(..).for_each(|watch| watch.send(broken.clone()).unwrap());
    }
}

fn response(kind: CallWatchType, call_id: &str) -> Bytes {
    let call = CallRecord { call_id: call_id.to_owned(), ..Default::default() };
    wire::frame(&WatchCallsResponse { r#type: kind.into(), call: Some(call), ..Default::default() })
}

fn key(whose: &str) -> Key {
    Key::new(User::new("riley".parse().unwrap()), vec![Topic::Calls], whose.to_owned(), None)
}

async fn open(feeds: &Feeds, service: &Service, last: Option<&str>) -> Reader {
    feeds.subscribe(service.routes(), key(""), last).await.unwrap()
}

async fn next(reader: &mut Reader) -> Bytes {
    reader.next().await.unwrap().expect("the stream has no end")
}

/// The names of the events of a piece, and the id of the last one.
fn read(piece: &[u8]) -> (Vec<String>, String) {
    let text = str::from_utf8(piece).unwrap();
    let values = |field: &'static str| {
        text.lines().filter_map(move |line| line.strip_prefix(field)).map(ToOwned::to_owned)
    };
    (values("event: ").collect(), values("id: ").next_back().unwrap_or_default())
}

#[tokio::test(start_paused = true)]
async fn many_streams_open_one_watch_and_each_event_is_encoded_once() {
    let (feeds, service) = (Feeds::default(), Service::default());
    let mut readers = Vec::new();
    for _ in 0..100 {
        readers.push(open(&feeds, &service, None).await);
    }
    for id in ["", "one", "two"] {
        if !id.is_empty() {
            service.send(id);
        }
        let mut pieces = Vec::new();
        for reader in &mut readers {
            pieces.push(next(reader).await);
        }
        let name = if id.is_empty() { "calls.synced" } else { "calls.ended" };
        assert_eq!(read(&pieces[0]).0, [name]);
        // Not equal text alone: the same bytes in memory.
        assert!(pieces.iter().all(|piece| piece.as_ptr() == pieces[0].as_ptr()));
    }
    assert_eq!(service.opened(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_later_stream_begins_with_the_state_of_then_and_goes_on_with_the_others() {
    let (feeds, service) = (Feeds::default(), Service::default());
    let mut first = open(&feeds, &service, None).await;
    next(&mut first).await;
    service.send("one");
    next(&mut first).await;
    advance(FRESH).await;
    let mut second = open(&feeds, &service, None).await;
    assert_eq!(service.opened(), 2);
    assert_eq!(read(&next(&mut second).await).0, ["calls.synced"]);
    service.send("two");
    let (one, other) = (next(&mut first).await, next(&mut second).await);
    assert_eq!(one.as_ptr(), other.as_ptr());
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_not_read_holds_no_events_and_begins_anew_once_it_is() {
    let (feeds, service) = (Feeds::default(), Service::default());
    let (mut read_on, mut unread) = (open(&feeds, &service, None).await, open(&feeds, &service, None).await);
    next(&mut read_on).await;
    next(&mut unread).await;
    // An event is longer than its call's id.
    let long = "x".repeat(100_000);
    for _ in 0..30 {
        service.send(&long);
        assert_eq!(read(&next(&mut read_on).await).0, ["calls.ended"]);
    }
    assert!(unread.pending.iter().all(Bytes::is_empty));
    assert_eq!(read(&next(&mut unread).await).0, ["reset"]);
    assert_eq!(read(&next(&mut unread).await).0, ["calls.synced"]);
    service.send("last");
    assert_eq!(next(&mut read_on).await, next(&mut unread).await);
}

#[tokio::test(start_paused = true)]
async fn a_lost_stream_is_resumed_for_a_minute() {
    let (feeds, service) = (Feeds::default(), Service::default());
    let mut reader = open(&feeds, &service, None).await;
    let (_, id) = read(&next(&mut reader).await);
    service.send("one");
    let one = next(&mut reader).await;
    drop(reader);
    advance(RESUMABLE.saturating_sub(Duration::from_secs(1))).await;
    let mut resumed = open(&feeds, &service, Some(&id)).await;
    assert_eq!(next(&mut resumed).await, one, "without a reset, and without the state");
    drop(resumed);
    // The task looks twice: when the last stream has left, and a minute later.
    for _ in 0..3 {
        tokio::time::sleep(RESUMABLE).await;
    }
    let mut reopened = open(&feeds, &service, Some(&id)).await;
    assert_eq!(read(&next(&mut reopened).await).0, ["reset"]);
    assert_eq!(read(&next(&mut reopened).await).0, ["calls.synced"]);
    assert_eq!(service.opened(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_fails_ends_its_streams_and_the_next_one_opens_another() {
    let (feeds, service) = (Feeds::default(), Service::default());
    let mut reader = open(&feeds, &service, None).await;
    next(&mut reader).await;
    service.fail();
    assert_eq!(read(&next(&mut reader).await).0, ["error"]);
    assert!(reader.next().await.unwrap().is_none());
    let mut reopened = open(&feeds, &service, None).await;
    assert_eq!(read(&next(&mut reopened).await).0, ["calls.synced"]);
    assert_eq!(service.opened(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_feeds_of_a_user_are_bounded_and_those_without_streams_give_way() {
    let (feeds, service) = (Feeds::default(), Service::default());
    let open = async |whose: String| feeds.subscribe(service.routes(), key(&whose), None).await;
    let mut readers = Vec::new();
    for number in 0..16 {
        readers.push(open(number.to_string()).await.unwrap());
    }
    let refused = open("16".to_owned()).await.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::ResourceExhausted, "{refused:?}");
    assert!(refused.message().contains("at most 16"), "{refused:?}");
    readers.push(open("0".to_owned()).await.unwrap());
    drop(readers.drain(..2));
    assert!(open("16".to_owned()).await.is_ok());
}

#[test]
fn tokens_of_one_user_share_a_feed_whenever_they_end() {
    let key = |ends_at| {
        let grant = Grant { groups: Vec::new(), scopes: Vec::new(), ends_at, acceptance: None };
        let user = User { grant: Some(grant.into()), known_by: KnownBy::Issuer, ..key("").user };
        Key::new(user, vec![Topic::Calls], String::new(), None)
    };
    assert_eq!(key(None), key(Some(SystemTime::UNIX_EPOCH)));
    assert_ne!(key(None), self::key(""));
}
