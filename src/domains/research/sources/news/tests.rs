//! The feeds' answers as they write them.

use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{method, path, query_param},
};

use super::*;
use crate::clock;
use crate::upstream::{
    http::FailureKind::*,
    testing::{client, client_remembering, context},
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
        title: "Nestlé up 2%".to_owned(),
        summary: "Sales £10m".to_owned(),
        publisher: "MoneyControl".to_owned(),
        published_at: Some("2026-01-16T08:40:00Z".parse().unwrap()),
        url: "https://mc.example/1".to_owned(),
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
    let shown: Vec<_> = headlines.articles.iter().map(|it| (it.title.as_str(), it.url.as_str())).collect();
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
        ToolContext { deadline: call.deadline.shortened(clock::now() + Duration::from_secs(2)), ..call };
    let headlines = news(&server).headlines(Category::Markets, &call).await.unwrap();
    assert_eq!(headlines.articles[0].publisher, "Economic Times");
    assert!(headlines.warnings[0].starts_with("MoneyControl is left out: "), "{:?}", headlines.warnings);
}

#[tokio::test]
async fn both_publishers_stand_in_one_list_each_article_once() {
    let server = MockServer::start().await;
    let first = [item("Shared", "16 Jan 2026 12:00 IST"), item("Older", "2026-01-15")].concat();
    answer(&server, MONEYCONTROL, xml(feed(&first))).await;
    let second =
        [item("The newest", "2026-01-16 15:00:00"), item("SHARED", "16 Jan 2026 12:01 IST")].concat();
    answer(&server, ECONOMIC_TIMES, xml(feed(&second))).await;
    let headlines = headlines(&server).await.unwrap();
    let titles: Vec<_> = headlines.articles.iter().map(|article| article.title.as_str()).collect();
    assert_eq!((titles, headlines.warnings.len()), (vec!["The newest", "Shared", "Older"], 0));
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
