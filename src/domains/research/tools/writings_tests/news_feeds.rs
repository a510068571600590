//! `browse_news` and `get_news`.

use wiremock::{Mock, MockServer, ResponseTemplate, matchers::path_regex};

use super::*;

async fn feed(server: &MockServer, at: &str, items: &[(&str, &str)]) {
    let item = |(title, date): &(&str, &str)| {
        format!("<item><title>{title}</title><pubDate>{date}</pubDate></item>")
    };
    let items: Vec<_> = items.iter().map(item).collect();
    let body = format!("<rss version=\"2.0\"><channel>{}</channel></rss>", items.concat());
    let answer = ResponseTemplate::new(200).set_body_raw(body, "text/xml");
    Mock::given(path_regex(at)).respond_with(answer).mount(server).await;
}

#[tokio::test]
async fn headlines_come_from_the_feed_that_is_not_frozen() {
    let server = MockServer::start().await;
    feed(&server, "^/moneycontrol/", &[("Old", "Tue, 30 Apr 2024 12:00:00 +0530")]).await;
    let items = [("New", "Fri, 16 Jan 2026 12:00:00 IST"), ("Older", "Thu, 15 Jan 2026 12:00:00 IST")];
    feed(&server, "^/economictimes/", &items).await;
    let input = BrowseNewsRequest { category: Some("stocks".to_owned()), limit: Some(1) };
    let reply = BrowseNews.execute(input, &call(&server)).await.unwrap();
    assert_eq!((reply.data.category.as_str(), reply.data.stale), ("stocks", true), "what was recorded");
    let expected = Article {
        title: "New".to_owned(),
        source: "Economic Times".to_owned(),
        published_at: Some("2026-01-16T06:30:00Z".to_owned()),
        ..Article::default()
    };
    assert_eq!(reply.data.headlines, [expected]);
    let warnings = reply.provenance.warnings;
    let recorded = "This is embedded data, recorded on 2026-01-16: it is never newer, whenever it was read.";
    assert_eq!(warnings[0], recorded);
    assert!(warnings[1].starts_with("stale: "), "{warnings:?}");
    assert_eq!(warnings[2], "1 of 2 headlines are shown.");
}

#[tokio::test]
async fn what_is_stale_is_dated_as_it_is() {
    let server = MockServer::start().await;
    feed(&server, "^/", &[("Old", "Tue, 30 Apr 2024 12:00:00 +0530")]).await;
    let input = BrowseNewsRequest { category: Some("economy".to_owned()), limit: Some(10) };
    let reply = BrowseNews.execute(input, &call(&server)).await.unwrap();
    assert!(reply.data.stale);
    assert_eq!(reply.provenance.as_of, "2024-04-30");
}

#[tokio::test]
async fn news_about_a_stock_is_that_of_the_period() {
    let server = MockServer::start().await;
    let items = [
        ("Tata Consultancy wins - Mint", "Sat, 10 Jan 2026 10:00:00 GMT"),
        ("Before - Mint", "Fri, 09 Jan 2026 09:59:59 GMT"),
        ("Undated - Mint", ""),
    ];
    feed(&server, "^/googlenews/rss/search$", &items).await;
    let ask = |days| GetNewsRequest { symbol: Some(" tcs".to_owned()), days: Some(days), limit: Some(10) };
    let reply = GetNews.execute(ask(7), &call(&server)).await.unwrap();
    let titles: Vec<_> = reply.data.articles.iter().map(|article| article.title.as_str()).collect();
    assert_eq!(titles, ["Tata Consultancy wins"]);
    assert_eq!((reply.data.symbol.as_str(), reply.data.days, reply.data.stale), ("TCS", 7, true));
    let one = GetNewsRequest { limit: Some(1), ..ask(8) };
    let warnings = GetNews.execute(one, &call(&server)).await.unwrap().provenance.warnings;
    assert!(warnings[1].starts_with("1 of 2 articles are shown."), "{warnings:?}");
    assert_eq!(GetNews.execute(ask(8), &call(&server)).await.unwrap().data.articles.len(), 2);
    let reply = GetNews.execute(ask(1), &call(&server)).await.unwrap();
    assert!(reply.data.stale && reply.data.articles.is_empty(), "the feed has nothing new");
    let query = server.received_requests().await.unwrap()[0].url.query_pairs().next().unwrap().1.into_owned();
    assert_eq!(query, "\"Tata Consultancy Services\" when:7d");
}

#[tokio::test]
async fn no_news_are_no_failure() {
    let server = MockServer::start().await;
    feed(&server, "^/googlenews/", &[]).await;
    let input = GetNewsRequest { symbol: Some("NEWCO".to_owned()), days: Some(7), limit: Some(10) };
    let reply = GetNews.execute(input, &call(&server)).await.unwrap();
    assert!(reply.data.articles.is_empty() && reply.data.stale, "nothing is not new");
    assert!(reply.provenance.warnings[0].starts_with("Unknown symbol 'NEWCO'."), "{:?}", reply.provenance);
}
