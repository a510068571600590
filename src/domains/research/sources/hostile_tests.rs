//! Every connector against everything that a site may do: one table, of connectors and what the site does to them.
//!
//! The site answers in each source's own shapes, but for the one document that is attacked. Not here: what only one
//! source does, which its own tests know.

mod attack;
mod connectors;
mod good;
mod injection;
mod site;
mod target;
mod texts;

use std::time::Duration;

use futures_util::future::join_all;
use strum::VariantArray as _;

use self::{attack::Attack, connectors::Connectors, site::Site, target::Target};
use super::news::Category;
use toolwire_base::offload;
use toolwire_contract::ErrorCode;
use toolwire_sources::upstream::testing::context;

/// What should come of it: data, or a failure of a code, and whether the site is then left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Data,
    Failure(ErrorCode),
    LeftAlone(ErrorCode),
}

/// The table: what each attack comes to, and where that differs.
fn expected(attack: Attack, asked: Target) -> Outcome {
    use ErrorCode::{AuthFailed, Blocked, ParseError, RateLimited, Timeout, Unavailable};
    match attack {
        // A form is never resent elsewhere.
        Attack::RedirectWithin if asked == Target::RedditToken => Outcome::Failure(ParseError),
        Attack::Wide if !asked.may_be_encoded() => Outcome::Failure(ParseError),
        Attack::None
        | Attack::Large
        | Attack::Injection(_)
        | Attack::RedirectWithin
        | Attack::Bom
        | Attack::Latin
        | Attack::Wide => Outcome::Data,
        // A page in place of a page: one without its form, or one for an anonymous visitor.
        Attack::Html if asked == Target::ScreenerForm => Outcome::Failure(ParseError),
        Attack::Html if asked == Target::ScreenerPage => Outcome::LeftAlone(AuthFailed),
        // Only publishers of feeds refuse with any page; any other site may just be broken.
        Attack::Html if asked != Target::GoogleNews => Outcome::Failure(ParseError),
        Attack::Html | Attack::Forbidden | Attack::Refused => Outcome::LeftAlone(Blocked),
        Attack::TooMany(_) => Outcome::LeftAlone(RateLimited),
        Attack::Busy(_) => Outcome::LeftAlone(Unavailable),
        Attack::Truncated
        | Attack::Empty
        | Attack::RedirectElsewhere
        | Attack::RedirectRound
        | Attack::Bomb
        | Attack::TooLong
        | Attack::NoGzip => Outcome::Failure(ParseError),
        Attack::BrokenOff => Outcome::Failure(Unavailable),
        Attack::Drip => Outcome::Failure(Timeout),
    }
}

#[tokio::test]
async fn whatever_a_site_does_each_connector_takes_it_for_what_it_is() {
    let rows =
        Attack::ALL.into_iter().flat_map(|attack| Target::VARIANTS.iter().map(move |asked| (attack, *asked)));
    // JSON in another encoding is wrong only where a letter that is not ASCII is read.
    let rows: Vec<_> =
        rows.filter(|(attack, asked)| *attack != Attack::Latin || asked.may_be_encoded()).collect();
    for some in rows.chunks(34) {
        join_all(some.iter().map(|(attack, asked)| row(*attack, *asked))).await;
    }
}

async fn row(attack: Attack, asked: Target) {
    let what = format!("{attack:?} {asked:?}");
    let elsewhere = Site::start(Attack::None, "", None).await;
    let site = Site::start(attack, asked.target(), Some(elsewhere.base.clone())).await;
    // What drips is cut by the time-out; everything else is given the time that a busy machine may take.
    let timeout = Duration::from_secs(if attack == Attack::Drip { 3 } else { 30 });
    let connectors = Connectors::at(&site, timeout);
    let end = connectors.ask(asked).await;
    let code = end.as_ref().err().map(|error| error.code);
    let outcome = expected(attack, asked);
    match outcome {
        Outcome::Data => assert_eq!(code, None, "{what}: {end:?}"),
        Outcome::Failure(expected) | Outcome::LeftAlone(expected) => {
            assert_eq!(code, Some(expected), "{what}: {end:?}");
        }
    }
    if let Some(pause) = attack.pause() {
        let wait = end.as_ref().err().and_then(|error| error.retry_after).unwrap_or_default();
        let longest = pause + Duration::from_secs(1);
        assert!(wait <= longest && wait + Duration::from_mins(1) > pause, "{what}: {end:?}");
    }
    if let Err(error) = &end {
        assert!(
            asked.is_page() || asked.target().starts_with("/reddit") || !error.message.contains("redential")
        );
    }
    if matches!(outcome, Outcome::LeftAlone(_)) {
        let before = site.requests();
        assert!(connectors.ask(asked).await.is_err(), "{what}");
        assert_eq!(site.requests(), before, "{what}: it is left alone");
    }
    assert_eq!(elsewhere.requests(), 0, "{what}");
}

#[tokio::test]
async fn headlines_come_from_the_other_publisher_whatever_one_of_them_does() {
    let rows =
        Attack::ALL.into_iter().flat_map(|attack| [(attack, "/moneycontrol/"), (attack, "/economictimes/")]);
    join_all(rows.map(async |(attack, target)| {
        let elsewhere = Site::start(Attack::None, "", None).await;
        let site = Site::start(attack, target, Some(elsewhere.base.clone())).await;
        let timeout = Duration::from_secs(if attack == Attack::Drip { 3 } else { 30 });
        let news = Connectors::at(&site, timeout).news;
        let headlines = news.headlines(Category::Markets, &context()).await.expect("the other one's");
        let is_lost = !matches!(
            attack,
            Attack::None | Attack::RedirectWithin | Attack::Bom | Attack::Latin | Attack::Wide
        );
        assert!(!headlines.articles.is_empty(), "{attack:?}");
        assert_eq!(!headlines.warnings.is_empty(), is_lost, "{attack:?}: {:?}", headlines.warnings);
        assert_eq!(elsewhere.requests(), 0);
    }))
    .await;
}

#[tokio::test]
async fn a_large_answer_is_checked_and_read_beside_the_thread_that_carries_calls() {
    for (attack, is_large) in [(Attack::None, false), (Attack::Large, true)] {
        for &asked in Target::VARIANTS {
            let site = Site::start(attack, asked.target(), None).await;
            let connectors = Connectors::at(&site, Duration::from_secs(30));
            let before = offload::testing::requested_count();
            connectors.ask(asked).await.unwrap_or_else(|error| panic!("{asked:?}: {error:?}"));
            let works = offload::testing::requested_count() - before;
            assert!(if is_large { works >= 2 } else { works == 0 }, "{attack:?} {asked:?}: {works}");
        }
    }
}

#[tokio::test]
async fn every_source_is_asked_under_the_configured_name_but_for_those_that_need_their_own() {
    let site = Site::start(Attack::None, "", None).await;
    let connectors = Connectors::at(&site, Duration::from_secs(30));
    for &asked in Target::VARIANTS {
        connectors.ask(asked).await.unwrap_or_else(|error| panic!("{asked:?}: {error:?}"));
    }
    connectors.news.headlines(Category::Markets, &context()).await.expect("headlines");
    let names = site.user_agents();
    assert!(names.len() >= 20, "{names:?}");
    for (path, name) in names {
        let own = match path.split('/').nth(1) {
            Some("reddit" | "reddit-token") => name == good::REDDIT_USER_AGENT,
            Some("screener") => name.starts_with("Mozilla/5.0 ("),
            _ => name == toolwire_sources::upstream::testing::USER_AGENT,
        };
        assert!(own, "{path}: {name}");
    }
}
