//! The tools against the embedded origin: whatever it holds is read, found and safe.

use super::*;
use crate::sources::embedded as sources;
use toolwire_base::files::Tree;
use toolwire_sources::upstream::http::Sender;

fn embedded(watched: &[&'static str]) -> ToolContext {
    let universe = Tree::Embedded(crate::data::files()).read("research/universe.json").unwrap().unwrap();
    let universe = Universe::parse(&universe).unwrap();
    let sender = sources::attach(Sender::new().unwrap(), Tree::Embedded(crate::data::files())).unwrap();
    call_over(&sender, sources::base, universe, watched)
}

#[track_caller]
fn assert_safe(texts: &[&str]) {
    for text in texts {
        assert!(!text.contains("<script") && !text.contains(['\u{202e}', '\u{200b}']), "{text:?}");
    }
}

#[tokio::test]
async fn the_forum_is_browsed_in_every_category() {
    let context = embedded(&["RELIANCE", "TCS"]);
    for (category, count) in [("latest", 25), ("top", 5), ("watchlist", 2)] {
        let input = BrowseValuepickrRequest { category: Some(category.to_owned()), limit: Some(count) };
        let topics = BrowseValuepickr.execute(input, &context).await.unwrap().data.topics;
        assert_eq!(topics.len(), usize::try_from(count).unwrap(), "{category}");
        for topic in &topics {
            assert_safe(&[&topic.title, &topic.slug]);
        }
        // The pinned rules come first at the source, and are none of what is active.
        assert!(!topics[0].slug.starts_with("welcome"), "{category}");
    }
}

#[tokio::test]
async fn a_thesis_is_found_by_symbol_and_by_name_and_none_for_nonsense() {
    let context = embedded(&[]);
    for query in ["RELIANCE", "reliance industries", "Tata Motors", "TATAMOTORS", "M&M"] {
        let input = GetStockThesisRequest { query: Some(query.to_owned()) };
        let thesis = GetStockThesis.execute(input, &context).await.unwrap().data;
        assert!(thesis.found, "{query}");
        assert!(thesis.topic_url.unwrap().starts_with("https://forum.valuepickr.com/t/"), "{query}");
        let (summary, recent) = (thesis.thesis_summary.unwrap(), thesis.recent_sentiment.unwrap());
        assert!(
            summary.chars().count() > 100 && recent.starts_with("Last 5 posts"),
            "{query}: {summary} {recent}"
        );
        assert_safe(&[&summary, &recent]);
    }
    let input = GetStockThesisRequest { query: Some("Acme Anvils".to_owned()) };
    assert!(!GetStockThesis.execute(input, &context).await.unwrap().data.found);
}

#[tokio::test]
async fn reddit_is_browsed_in_every_order_and_searched() {
    let context = embedded(&[]);
    for subreddit in ["IndiaInvestments", "IndianStockMarket"] {
        for (sort, most) in [("hot", 10), ("new", 10), ("top", 10)] {
            let input = BrowseRedditRequest {
                subreddit: Some(subreddit.to_owned()),
                sort: Some(sort.to_owned()),
                limit: Some(most),
            };
            let posts = BrowseReddit.execute(input, &context).await.unwrap().data.posts;
            assert!(!posts.is_empty() && posts.len() <= 10, "{subreddit} {sort}");
            for post in &posts {
                assert_ne!(post.author, "AutoModerator", "a sticky");
                assert_safe(&[&post.title, &post.author, &post.excerpt]);
            }
        }
    }
    for symbol in ["RELIANCE", "TCS"] {
        let input =
            GetRedditMentionsRequest { symbol: Some(symbol.to_owned()), days: Some(30), limit: Some(50) };
        let found = GetRedditMentions.execute(input, &context).await.unwrap().data;
        assert!(found.mentions_count > 0, "{symbol}");
    }
}

#[tokio::test]
async fn words_of_everyday_are_no_mentions_of_a_stock() {
    let context = embedded(&[]);
    for symbol in ["THE", "NEW", "AND", "WHY", "ALL"] {
        let input =
            GetRedditMentionsRequest { symbol: Some(symbol.to_owned()), days: Some(30), limit: Some(50) };
        let Reply { data, provenance } = GetRedditMentions.execute(input, &context).await.unwrap();
        assert_eq!(data.mentions_count, 0, "{symbol}: {:?}", data.mentions);
        let unknown = format!("Unknown symbol '{symbol}'.");
        assert!(provenance.warnings.iter().any(|it| it.starts_with(&unknown)), "{:?}", provenance.warnings);
    }
}

#[tokio::test]
async fn news_are_fresh_in_every_category_and_about_a_stock() {
    let context = embedded(&[]);
    for category in ["markets", "stocks", "economy"] {
        let input = BrowseNewsRequest { category: Some(category.to_owned()), limit: Some(10) };
        let Reply { data: news, provenance } = BrowseNews.execute(input, &context).await.unwrap();
        assert!(news.stale && news.headlines.len() == 10, "{category}");
        assert!(provenance.warnings[0].contains("recorded on 2026-01-16"), "{:?}", provenance.warnings);
        assert!(!provenance.warnings.iter().any(|it| it.contains("days old")), "{:?}", provenance.warnings);
        for headline in &news.headlines {
            assert_safe(&[&headline.title, &headline.summary]);
        }
    }
    for symbol in ["RELIANCE", "TCS", "INFY", "TATAMOTORS", "M&M"] {
        let input = GetNewsRequest { symbol: Some(symbol.to_owned()), days: Some(7), limit: Some(10) };
        let news = GetNews.execute(input, &context).await.unwrap().data;
        assert!(!news.articles.is_empty() && news.stale, "{symbol}");
    }
}
