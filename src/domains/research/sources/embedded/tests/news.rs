//! News.

use super::Browser;

#[tokio::test]
async fn moneycontrol_is_in_latin_1_and_one_of_its_feeds_is_frozen() {
    let browser = Browser::new();
    let got = browser.get("moneycontrol", "rss/marketreports.xml").await;
    assert_eq!((got.status.as_u16(), got.header("content-type")), (200, "text/xml"));
    // é in ISO-8859-1; such a byte alone is no UTF-8.
    assert!(got.body.contains(&0xe9) && String::from_utf8(got.body).is_err());
    let frozen = browser.get("moneycontrol", "rss/results.xml").await.text();
    assert!(frozen.contains("Apr 2024") && !frozen.contains("2026"));
    let missing = browser.get("moneycontrol", "rss/nosuch.xml").await;
    assert_eq!((missing.status.as_u16(), missing.header("content-type")), (404, "text/html; charset=utf-8"));
}

#[tokio::test]
async fn the_economic_times_writes_ist_and_escapes_twice() {
    let browser = Browser::new();
    for path in [
        "markets/rssfeeds/1977021501.cms",
        "markets/stocks/rssfeeds/2146842.cms",
        "news/economy/rssfeeds/1373380680.cms",
    ] {
        let feed = browser.get("economictimes", path).await.text();
        assert!(feed.contains("<pubDate>Fri, 16 Jan 2026") && feed.contains(" IST</pubDate>"), "{path}");
    }
    let stocks = browser.get("economictimes", "markets/stocks/rssfeeds/2146842.cms").await.text();
    assert!(stocks.contains("<![CDATA[M&amp;M Financial"));
    assert_eq!(browser.get("economictimes", "markets/rssfeeds/1.cms").await.status, 404);
}

#[tokio::test]
async fn google_news_finds_a_stock_by_symbol_or_name_within_the_days_asked_for() {
    let browser = Browser::new();
    let search =
        async |query: &str| browser.get("googlenews", &format!("rss/search?q={query}&hl=en-IN")).await.text();
    let items = |feed: &str| feed.matches("<item>").count();
    let week = search("%22Tata+Motors%22+when:7d").await;
    assert!(items(&week) > 1 && week.contains("Tata Motors"));
    assert!(items(&search("TATAMOTORS+OR+Tata").await) > items(&week));
    assert_eq!(items(&search("%22Tata+Motors%22+when:1h").await), 0);
    let financial = search("%22Mahindra+%26+Mahindra+Financial+Services%22").await;
    assert!(financial.contains("Mahindra &amp; Mahindra Financial Services"));
    assert_eq!(items(&search("zebra").await), 0);
}
