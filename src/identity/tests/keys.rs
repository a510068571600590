//! When keys are fetched, by a paused clock: how often, by whom, and for how long they serve.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::future::{BoxFuture, join_all};
use tokio::{
    sync::{Mutex, Semaphore},
    time::{advance, sleep},
};

use super::support::{Signer, key_set};
use crate::{
    Refusal,
    fetch::FetchError,
    jwk::{KeySet, KeyUse},
    keys::{Fetch, Keys, TURN},
};

/// An issuer within the process.
struct Site {
    /// The names of its keys; `None` while it is away.
    published: Mutex<Option<Vec<&'static str>>>,
    fetches: AtomicUsize,
    /// A fetch takes a permit before it answers.
    gate: Semaphore,
}

impl Site {
    fn new(published: &[&'static str]) -> Arc<Self> {
        let published = Mutex::new(Some(published.to_vec()));
        Arc::new(Self { published, fetches: AtomicUsize::new(0), gate: Semaphore::new(1_000) })
    }

    async fn publish(&self, keys: Option<&[&'static str]>) {
        *self.published.lock().await = keys.map(<[_]>::to_vec);
    }

    fn fetches(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }

    fn keys(self: &Arc<Self>) -> Keys {
        let site = Arc::clone(self);
        let fetch: Fetch = Box::new(move || -> BoxFuture<'static, _> {
            let site = Arc::clone(&site);
            Box::pin(async move { site.answer().await })
        });
        Keys::start("corp".into(), TURN, fetch)
    }

    /// What it publishes when it is asked, said once the gate is open.
    async fn answer(&self) -> Result<KeySet, FetchError> {
        self.fetches.fetch_add(1, Ordering::SeqCst);
        let published = self.published.lock().await.clone();
        drop(self.gate.acquire().await.unwrap());
        let signers: Vec<_> = published.ok_or(FetchError::TimedOut)?.into_iter().map(Signer::ed).collect();
        Ok(KeySet::read(&key_set(&signers.iter().collect::<Vec<_>>()), KeyUse::Signature).unwrap())
    }
}

/// What a token of this key meets that comes now.
async fn token_of(keys: &Keys, kid: &str) -> Result<(), &'static str> {
    let at_arrival = keys.now();
    keys.with_key(kid, &at_arrival).await.map(|_| ()).map_err(|refusal| refusal.word())
}

const UNKNOWN: Result<(), &str> = Err("unknown_key");
const UNAVAILABLE: Result<(), &str> = Err("keys_unavailable");

#[tokio::test(start_paused = true)]
async fn the_first_tokens_wait_for_one_fetch() {
    let site = Site::new(&["k1"]);
    let keys = site.keys();
    let all = join_all((0..100).map(|_| token_of(&keys, "k1"))).await;
    assert!(all.iter().all(Result::is_ok) && site.fetches() == 1, "{}", site.fetches());
}

#[tokio::test(start_paused = true)]
async fn a_new_key_is_fetched_at_once_for_all_that_wait_for_it() {
    let site = Site::new(&["k1"]);
    let keys = site.keys();
    assert_eq!(token_of(&keys, "k1").await, Ok(()));
    site.publish(Some(&["k1", "k2"])).await;
    let all = join_all((0..100).map(|_| token_of(&keys, "k2"))).await;
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    assert_eq!(site.fetches(), 2);
}

#[tokio::test(start_paused = true)]
async fn forged_names_of_keys_cause_a_fetch_each_30_s_and_hide_no_rotated_key() {
    let site = Site::new(&["k1"]);
    let keys = site.keys();
    assert_eq!(token_of(&keys, "k1").await, Ok(()));
    // The forged one has the turn; it is unknown, since a fetch after its arrival lacks it.
    assert_eq!(token_of(&keys, "forged").await, UNKNOWN);
    assert_eq!(site.fetches(), 2);
    site.publish(Some(&["k2"])).await;
    for _ in 0..100 {
        assert_eq!(token_of(&keys, "forged").await, UNAVAILABLE);
        assert_eq!(token_of(&keys, "k2").await, UNAVAILABLE, "never refused for good");
    }
    assert_eq!(site.fetches(), 2);
    let refused = keys.with_key("k2", &keys.now()).await.unwrap_err();
    let Refusal::KeysUnavailable { retry_after } = refused else { panic!("{refused}") };
    assert_eq!(retry_after, Duration::from_secs(30));
    sleep(retry_after).await;
    assert_eq!(token_of(&keys, "k2").await, Ok(()));
    assert_eq!(site.fetches(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_fetch_that_began_before_a_token_came_does_not_refuse_it() {
    let site = Site::new(&["k1"]);
    let keys = site.keys();
    assert_eq!(token_of(&keys, "k1").await, Ok(()));
    site.gate.forget_permits(1_000);
    let first = token_of(&keys, "forged");
    let second = async {
        while site.fetches() < 2 {
            tokio::task::yield_now().await;
        }
        // The issuer has answered the fetch under way already, without this key.
        site.publish(Some(&["k2"])).await;
        let late = token_of(&keys, "k2");
        let open = async { site.gate.add_permits(1_000) };
        tokio::join!(late, open).0
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!((first, second), (UNKNOWN, UNAVAILABLE));
}

#[tokio::test(start_paused = true)]
async fn keys_are_renewed_each_10_minutes() {
    let site = Site::new(&["k1"]);
    let keys = site.keys();
    assert_eq!(token_of(&keys, "k1").await, Ok(()));
    sleep(Duration::from_secs(599)).await;
    assert_eq!(site.fetches(), 1);
    site.publish(Some(&["k2"])).await;
    sleep(Duration::from_secs(2)).await;
    assert_eq!(site.fetches(), 2);
    assert!(keys.now().keys.has("k2") && !keys.now().keys.has("k1"));
}

#[tokio::test(start_paused = true)]
async fn the_last_keys_serve_for_24_hours_and_new_ones_are_unavailable_meanwhile() {
    let site = Site::new(&["k1"]);
    let keys = site.keys();
    assert_eq!(token_of(&keys, "k1").await, Ok(()));
    site.publish(None).await;
    sleep(Duration::from_mins(24 * 60 - 1)).await;
    assert_eq!((token_of(&keys, "k1").await, token_of(&keys, "k2").await), (Ok(()), UNAVAILABLE));
    sleep(Duration::from_mins(1)).await;
    assert_eq!(token_of(&keys, "k1").await, UNAVAILABLE, "nobody vouches for them any more");
    site.publish(Some(&["k1"])).await;
    sleep(Duration::from_secs(30)).await;
    assert_eq!(token_of(&keys, "k1").await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn an_issuer_that_is_away_at_the_start_is_tried_each_30_s() {
    let site = Site::new(&["k1"]);
    site.publish(None).await;
    let keys = site.keys();
    assert_eq!(token_of(&keys, "k1").await, UNAVAILABLE);
    assert_eq!(site.fetches(), 1);
    sleep(Duration::from_secs(61)).await;
    assert_eq!(site.fetches(), 3);
    site.publish(Some(&["k1"])).await;
    sleep(Duration::from_secs(30)).await;
    assert_eq!(token_of(&keys, "k1").await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_fetch_ends_after_5_s_and_holds_up_nobody_longer() {
    let site = Site::new(&["k1"]);
    site.gate.forget_permits(1_000);
    let keys = site.keys();
    let begin = toolwire_base::clock::now();
    assert_eq!(token_of(&keys, "k1").await, UNAVAILABLE);
    assert_eq!(toolwire_base::clock::now() - begin, Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn dropped_keys_are_fetched_no_more() {
    let site = Site::new(&["k1"]);
    let keys = site.keys();
    assert_eq!(token_of(&keys, "k1").await, Ok(()));
    drop(keys);
    advance(Duration::from_hours(1)).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(site.fetches(), 1);
}
