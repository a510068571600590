//! Feeds that fail, in whole or in part, and what the others then have.

use super::*;

#[tokio::test]
async fn where_one_feed_fails_the_next_is_read() {
    let page = || ResponseTemplate::new(200).set_body_raw("<!DOCTYPE html><html>", "text/html");
    for failing in [page(), ResponseTemplate::new(403), ResponseTemplate::new(503), xml("<rss")] {
        let server = MockServer::start().await;
        answer(&server, MONEYCONTROL, failing).await;
        answer(&server, ECONOMIC_TIMES, xml(fresh())).await;
        let headlines = headlines(&server).await.unwrap();
        assert_eq!(headlines.articles[0].publisher, "Economic Times");
        let [warning] = headlines.warnings.as_slice() else { panic!("{:?}", headlines.warnings) };
        assert!(warning.starts_with("MoneyControl is left out: MoneyControl "), "{warning}");
    }
    let server = MockServer::start().await;
    answer(&server, MONEYCONTROL, xml(frozen())).await;
    answer(&server, ECONOMIC_TIMES, page()).await;
    let headlines = headlines(&server).await.unwrap();
    assert_eq!((headlines.articles.len(), headlines.is_stale, headlines.warnings.len()), (1, true, 2));
}

#[tokio::test]
async fn every_kind_of_failure_is_told_apart() {
    let html = |status| ResponseTemplate::new(status).set_body_raw("\u{feff} <!DOCTYPE html>", "text/xml");
    let answers = [
        (html(200), Blocked, Some(6 * 3600)),
        (html(403), Blocked, Some(6 * 3600)),
        (html(451), Blocked, Some(6 * 3600)),
        (html(404), NotFound, None),
        (html(500), Down, None),
        (ResponseTemplate::new(429).insert_header("Retry-After", "9"), RateLimited, Some(9)),
        (ResponseTemplate::new(200).set_body_string("Too Many Requests"), RateLimited, None),
        (xml(""), Malformed, None),
        (xml("<rss version=\"2.0\"><channel><item>"), Malformed, None),
        (xml("<feedback/>"), Malformed, None),
        (ResponseTemplate::new(401), AuthFailed, Some(30 * 60)),
    ];
    for (response, kind, retry_after) in answers {
        let what = format!("{response:?}");
        let server = MockServer::start().await;
        answer(&server, "/googlenews/rss/search", response).await;
        let failure = news(&server).about("TCS", 7, &context()).await.unwrap_err();
        // Where the source states no time, the stack states our own limit's, which here is none.
        let wait = failure.retry_after.filter(|wait| !wait.is_zero());
        assert_eq!((failure.kind, wait), (kind, retry_after.map(Duration::from_secs)), "{what}");
        assert_eq!(failure.source_title, "Google News");
    }
}

#[tokio::test]
async fn a_feed_that_refuses_us_or_asks_for_a_pause_stops_no_other_one_nor_the_next_call() {
    let page = || ResponseTemplate::new(200).set_body_raw("<!DOCTYPE html><html>", "text/html");
    let busy = |status| ResponseTemplate::new(status).insert_header("retry-after", "3600");
    for refusal in [page(), ResponseTemplate::new(403), busy(429), busy(503)] {
        let what = format!("{refusal:?}");
        let server = MockServer::start().await;
        answer(&server, MONEYCONTROL, refusal).await;
        answer(&server, ECONOMIC_TIMES, xml(fresh())).await;
        answer(&server, "/googlenews/rss/search", xml(feed(""))).await;
        let news = news_over(client_remembering(PROFILE), &server);
        for _ in 0..2 {
            let headlines = news.headlines(Category::Markets, &context()).await.unwrap();
            assert_eq!(headlines.articles[0].title, "Nifty rises", "{what}");
            assert_eq!((headlines.is_stale, headlines.warnings.len()), (false, 1), "{what}");
        }
        assert!(news.about("TCS", 7, &context()).await.is_ok(), "{what}");
        let requests = server.received_requests().await.unwrap();
        let to = |at: &str| requests.iter().filter(|request| request.url.path() == at).count();
        assert_eq!((to(MONEYCONTROL), to(ECONOMIC_TIMES)), (1, 2), "{what}: it is left alone");
    }
}

#[tokio::test]
async fn a_feed_that_hangs_does_not_keep_the_other_from_the_call() {
    let server = MockServer::start().await;
    answer(&server, MONEYCONTROL, xml(fresh()).set_delay(Duration::from_hours(1))).await;
    answer(&server, ECONOMIC_TIMES, xml(fresh())).await;
    let call = context();
    let call =
        ToolContext { deadline: call.deadline.no_later_than(clock::now() + Duration::from_secs(2)), ..call };
    let headlines = news(&server).headlines(Category::Markets, &call).await.unwrap();
    assert_eq!(headlines.articles[0].publisher, "Economic Times");
    assert!(headlines.warnings[0].starts_with("MoneyControl is left out: "), "{:?}", headlines.warnings);
}

#[tokio::test]
async fn wide_characters_without_a_mark_are_no_feed_and_the_other_one_is_read() {
    let wide = |unit: &dyn Fn(u8) -> Vec<u8>| fresh().bytes().flat_map(unit).collect::<Vec<_>>();
    let encodings: [&dyn Fn(u8) -> Vec<u8>; 4] =
        [&|byte| vec![byte, 0], &|byte| vec![0, byte], &|byte| vec![byte, 0, 0, 0], &|byte| {
            vec![0, 0, 0, byte]
        }];
    for encoding in encodings {
        let server = MockServer::start().await;
        answer(&server, MONEYCONTROL, xml(wide(encoding))).await;
        answer(&server, ECONOMIC_TIMES, xml(fresh())).await;
        answer(&server, "/googlenews/rss/search", xml(wide(encoding))).await;
        let headlines = headlines(&server).await.unwrap();
        assert_eq!((headlines.articles.len(), headlines.warnings.len()), (1, 1));
        let failure = news(&server).about("TCS", 7, &context()).await.unwrap_err();
        assert_eq!(failure.kind, Malformed);
    }
}

#[tokio::test]
async fn a_broken_entry_is_counted_and_costs_no_other() {
    let server = MockServer::start().await;
    let items = format!(
        "{}<item><title>Broken</titel></item>{}",
        item("M&M up & away", "2026-01-16 10:00:00 +05:30"),
        item("Second", "21 Jan 2026 10:00 IST")
    );
    let body = format!("<rss><channel>{items}</channel></rss>");
    answer(&server, MONEYCONTROL, xml(body)).await;
    answer(&server, ECONOMIC_TIMES, xml(fresh())).await;
    let headlines = headlines(&server).await.unwrap();
    let titles: Vec<_> = headlines.articles.iter().map(|article| article.title.as_str()).collect();
    assert_eq!(titles, ["Nifty rises", "M&M up & away", "Second"]);
    assert_eq!(headlines.warnings, ["1 entry in the feed of MoneyControl cannot be read and is left out"]);
}
