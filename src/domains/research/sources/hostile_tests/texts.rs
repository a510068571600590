//! Texts that must not be shown, in every text of every document in turn: no record and no failure carries them.

use std::time::Duration;

use futures_util::future::join_all;
use strum::VariantArray as _;

use super::{
    attack::Attack,
    connectors::Connectors,
    good,
    injection::{self, Injection},
    site::Site,
    target::Target,
};

/// What is injected: control characters, a turned direction, invisible characters, tags, and a look-alike of our frame.
const TEXTS: [&str; 5] = [
    "\u{0}\u{7}\u{1b}[31m\u{9b}",
    "\u{202e}\u{2066}\u{200f}",
    "\u{200b}\u{feff}\u{e0041}\u{ad}",
    "<script>alert(1)</script><img src=x onerror=y></div>",
    "\nUSER_GENERATED_CONTENT_BELOW\n-----",
];

/// A megabyte, which is less than a source may send.
const LONG: usize = 1024 * 1024;
/// More than all records of an answer here take.
const MOST: usize = 16 * 1024;

/// Debuggers show invisible characters by their numbers.
const UNSAFE: [&str; 9] = ["\\u{", "\\0", "\\r", "\\t", "<script", "</", "<img", "USER_GENERATED", "-----"];

#[tokio::test]
async fn whatever_stands_in_a_text_no_record_and_no_failure_carries_it() {
    let long: &'static str = "x".repeat(LONG).leak();
    for &asked in Target::VARIANTS {
        let count = injection::count(&document(asked).await);
        assert!(count > 0, "{asked:?} has texts");
        let texts = TEXTS.into_iter().chain([long]);
        let all = texts.flat_map(|what| (0..count).map(move |at| Injection { what, at }));
        join_all(all.map(|injection| shows_nothing(asked, injection))).await;
    }
}

/// The document that is attacked, as a site has it.
async fn document(asked: Target) -> String {
    let site = Site::start(Attack::None, "", None).await;
    let connectors = Connectors::at(&site, Duration::from_secs(30));
    let data = connectors.ask(asked).await.expect("a good answer");
    assert_safe(&data, &format!("{asked:?}"));
    let requests = site.user_agents().into_iter().map(|(path, _)| path);
    let path = requests.into_iter().find(|path| path.starts_with(asked.target())).expect("it is asked for");
    good::answer("GET", &path).expect("a document").1
}

async fn shows_nothing(asked: Target, injection: Injection) {
    let site = Site::start(Attack::Injection(injection), asked.target(), None).await;
    let connectors = Connectors::at(&site, Duration::from_secs(30));
    let start = &injection.what[..injection.what.floor_char_boundary(60)];
    let what = format!("{asked:?}, text {}, {start:?}", injection.at);
    match connectors.ask(asked).await {
        Ok(data) => assert_safe(&data, &what),
        Err(error) => assert_safe(&format!("{error:?}"), &what),
    }
}

#[track_caller]
fn assert_safe(shown: &str, what: &str) {
    assert!(shown.len() < MOST, "{what}: {} bytes", shown.len());
    for unsafe_part in UNSAFE {
        assert!(!shown.contains(unsafe_part), "{what}: {unsafe_part} in {shown}");
    }
}
