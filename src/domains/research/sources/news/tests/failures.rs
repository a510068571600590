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
        (html(404), NotFound, None),
        (ResponseTemplate::new(200).set_body_string("Too Many Requests"), RateLimited, None),
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
