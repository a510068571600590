//! The feeds' answers as they write them.

mod failures;

use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{method, path, query_param},
};

use super::*;
use toolwire_sources::upstream::{
    http::FailureKind::*,
    testing::{client, client_remembering, context},
    text::{Line, Passage},
};

/// A Friday, at the close of the market.
const NOW: &str = "2026-01-16T10:00:00Z";
const MONEYCONTROL: &str = "/moneycontrol/rss/marketreports.xml";
const ECONOMIC_TIMES: &str = "/economictimes/markets/rssfeeds/1977021501.cms";

fn news(server: &MockServer) -> News {
    news_over(client(PROFILE), server)
}

fn news_over(client: Client, server: &MockServer) -> News {
    let url = |prefix: &str| format!("{}/{prefix}/", server.uri()).parse().unwrap();
    let settings = Settings {
        moneycontrol_url: url("moneycontrol"),
        economic_times_url: url("economictimes"),
        google_url: url("googlenews"),
        now: Now::Recorded(NOW.parse::<DateTime<Utc>>().unwrap().into()),
    };
    News::new(client, settings)
}

fn xml(body: impl Into<Vec<u8>>) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_raw(body, "text/xml")
}

fn feed(items: &str) -> String {
    format!("<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>News</title>{items}</channel></rss>")
}

fn item(title: &str, date: &str) -> String {
    let link = format!("https://news.example/{}", title.len());
    format!("<item><title>{title}</title><link>{link}</link><pubDate>{date}</pubDate></item>")
}

fn fresh() -> String {
    feed(&item("Nifty rises", "Fri, 16 Jan 2026 12:00:00 +0530"))
}

fn frozen() -> String {
    feed(&item("Old news", "Tue, 30 Apr 2024 12:00:00 +0530"))
}

async fn answer(server: &MockServer, at: &str, answer: ResponseTemplate) {
    Mock::given(method("GET")).and(path(at)).respond_with(answer).mount(server).await;
}

async fn headlines(server: &MockServer) -> Result<Headlines, Failure> {
    news(server).headlines(Category::Markets, &context()).await
}

#[tokio::test]
async fn a_feed_in_an_old_encoding_is_read_as_it_is_meant() {
    let server = MockServer::start().await;
    let mut body = b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><rss version=\"2.0\"><channel>".to_vec();
    body.extend_from_slice(b"<item><title>Nestl\xe9 up 2%</title><link>https://mc.example/1</link>");
    body.extend_from_slice(b"<description>&lt;img src=\"x\" alt=\"\"/&gt; Sales \xa310m &lt;script&gt;x()&lt;/script&gt;</description>");
    body.extend_from_slice(b"<pubDate>Fri, 16 Jan 2026 14:10:00 +0530</pubDate></item></channel></rss>");
    answer(&server, MONEYCONTROL, xml(body)).await;
    let headlines = headlines(&server).await.unwrap();
    assert!(!headlines.is_stale);
    let article = Article {
        title: Line::of("Nestlé up 2%"),
        summary: Passage::of("Sales £10m", 300),
        publisher: Line::of("MoneyControl"),
        published_at: Some("2026-01-16T08:40:00Z".parse().unwrap()),
        url: Some("https://mc.example/1".parse().unwrap()),
    };
    assert_eq!(headlines.articles, [article]);
}

#[tokio::test]
async fn titles_are_unescaped_twice_dates_in_indian_time_and_repeats_dropped() {
    let server = MockServer::start().await;
    let items = "<item><title><![CDATA[L&amp;T&#39;s Q3 <b>beats</b>]]></title>\
        <pubDate>Fri, 16 Jan 2026 10:00:00 IST</pubDate></item>\
        <item><title>Second</title><link>https://et.example/2</link><pubDate>Fri, 16 Jan 2026 15:01:00 IST</pubDate></item>\
        <item><title>Second, again</title><link>https://et.example/2</link><pubDate>Fri, 16 Jan 2026 15:02:00 IST</pubDate></item>\
        <item><title>SECOND</title><link>https://et.example/3</link></item>\
        <item><title>Undated</title><link>javascript:alert(1)</link></item>\
        <item><title>Tomorrow's</title><pubDate>Fri, 16 Jan 2027 15:01:00 IST</pubDate></item>\
        <item><link>https://et.example/untitled</link></item>";
    answer(&server, MONEYCONTROL, xml(frozen())).await;
    answer(&server, ECONOMIC_TIMES, xml(feed(items))).await;
    let headlines = headlines(&server).await.unwrap();
    let shown: Vec<_> = headlines
        .articles
        .iter()
        .map(|it| (it.title.as_str(), it.url.as_ref().map_or("", Url::as_str)))
        .collect();
    assert_eq!(
        shown,
        [("Second", "https://et.example/2"), ("L&T's Q3 beats", ""), ("Undated", ""), ("Tomorrow's", "")]
    );
    assert_eq!(headlines.articles[1].published_at, Some("2026-01-16T04:30:00Z".parse().unwrap()));
    assert_eq!(headlines.articles[3].published_at, None, "a date far ahead is none");
    let expected = [
        "stale: the newest item in the feed of MoneyControl is 626 days old",
        "1 entry in the feed of The Economic Times cannot be read and is left out",
    ];
    assert_eq!(headlines.warnings, expected);
    assert!(!headlines.is_stale);
}

#[tokio::test]
async fn both_feeds_are_one_list_newest_first_and_each_story_once() {
    let server = MockServer::start().await;
    let at = |hour: u32| format!("Fri, 16 Jan 2026 {hour}:00:00 +0530");
    let first = [item("Nifty rises 1%", &at(10)), item("Rupee falls", &at(14))].concat();
    answer(&server, MONEYCONTROL, xml(feed(&first))).await;
    let second = [item("Gold at a record high", &at(12)), item("NIFTY rises: 1 %", &at(15))].concat();
    answer(&server, ECONOMIC_TIMES, xml(feed(&second))).await;
    let headlines = headlines(&server).await.unwrap();
    let shown: Vec<_> =
        headlines.articles.iter().map(|it| (it.title.as_str(), it.publisher.as_str())).collect();
    let expected = [
        ("Rupee falls", "MoneyControl"),
        ("Gold at a record high", "Economic Times"),
        ("Nifty rises 1%", "MoneyControl"),
    ];
    assert_eq!((shown.as_slice(), headlines.warnings.len()), (expected.as_slice(), 0));
}

#[tokio::test]
async fn what_is_stale_everywhere_is_shown_and_said_to_be_stale() {
    let server = MockServer::start().await;
    answer(&server, MONEYCONTROL, xml(frozen())).await;
    let older = feed(&item("Older news", "Mon, 12 Jan 2026 12:00:00 IST"));
    answer(&server, ECONOMIC_TIMES, xml(older)).await;
    let headlines = headlines(&server).await.unwrap();
    assert!(headlines.is_stale);
    let titles: Vec<_> = headlines.articles.iter().map(|article| article.title.as_str()).collect();
    assert_eq!(titles, ["Older news", "Old news"]);
    assert_eq!(headlines.warnings.len(), 2);
}

#[tokio::test]
async fn three_days_are_not_stale_yet() {
    for (date, is_stale) in [("13 Jan 2026 10:00:00 GMT", false), ("13 Jan 2026 09:59:59 GMT", true)] {
        let server = MockServer::start().await;
        answer(&server, MONEYCONTROL, xml(feed(&item("News", date)))).await;
        answer(&server, ECONOMIC_TIMES, xml(feed(""))).await;
        assert_eq!(headlines(&server).await.unwrap().is_stale, is_stale, "{date}");
    }
}

#[tokio::test]
async fn every_category_has_its_own_feeds() {
    for (category, moneycontrol, economic_times) in [
        (
            Category::Stocks,
            "/moneycontrol/rss/buzzingstocks.xml",
            "/economictimes/markets/stocks/rssfeeds/2146842.cms",
        ),
        (
            Category::Economy,
            "/moneycontrol/rss/economy.xml",
            "/economictimes/news/economy/rssfeeds/1373380680.cms",
        ),
    ] {
        let server = MockServer::start().await;
        answer(&server, moneycontrol, xml(frozen())).await;
        answer(&server, economic_times, xml(fresh())).await;
        let headlines = news(&server).headlines(category, &context()).await.unwrap();
        assert_eq!(headlines.articles[0].title, "Nifty rises", "{category:?}");
    }
}

#[tokio::test]
async fn google_names_the_publisher_behind_the_title() {
    let server = MockServer::start().await;
    let items = "<item><title>Tata Motors - JLR - recovers - Mint</title><link>https://news.google.com/a</link>\
        <pubDate>Fri, 16 Jan 2026 06:51:00 GMT</pubDate><description>&lt;a href=\"x\"&gt;Tata Motors - JLR - recovers\
        &lt;/a&gt;&amp;nbsp;&lt;font&gt;Mint&lt;/font&gt;</description></item>";
    Mock::given(path("/googlenews/rss/search"))
        .and(query_param("q", "\"Tata Motors\" when:7d"))
        .and(query_param("hl", "en-IN"))
        .respond_with(xml(feed(items)))
        .mount(&server)
        .await;
    let articles = news(&server).about("Tata Motors", 7, &context()).await.unwrap().articles;
    assert_eq!(articles[0].title, "Tata Motors - JLR - recovers");
    assert_eq!((articles[0].publisher.as_str(), articles[0].summary.as_str()), ("Mint", ""));
}
