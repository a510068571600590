//! `get_stock_thesis`: why to invest in a stock, and its current discussion.

use super::{
    naming::Naming,
    outside::Outside,
    provenance, required,
    sentiment::{CAVEAT, Mood, together},
    symbol, time,
};
use crate::{
    proto::v1::{GetStockThesisOutput, GetStockThesisRequest},
    sources::{
        universe::{StockMatch, Universe},
        valuepickr::{Discussion, Order, PROFILE, Topic, ValuePickr},
    },
};
use toolwire_base::offload;
use toolwire_contract::arguments::Arguments;
use toolwire_sources::upstream::http::{Failure, FailureKind};
use toolwire_tool::{
    Reply, Tool,
    context::{Required, Services, ToolContext, Unfinished},
};

/// The bound on the beginning of a post, in characters.
const MAX_EXCERPT: usize = 300;

#[derive(Clone, Copy, Debug)]
pub struct GetStockThesis;

impl Tool for GetStockThesis {
    const NAME: &'static str = "get_stock_thesis";
    type Input = GetStockThesisRequest;
    type Output = GetStockThesisOutput;

    fn services() -> Required {
        Required::none().of::<ValuePickr>().of::<Universe>()
    }

    fn normalize(arguments: &mut Arguments, services: &Services) {
        symbol::normalize(arguments, services);
    }

    async fn execute(
        &self,
        input: GetStockThesisRequest,
        context: &ToolContext,
    ) -> Result<Reply<GetStockThesisOutput>, Unfinished> {
        let query = required("query", input.query.as_deref())?;
        let universe = context.services.get::<Universe>();
        symbol::refuse_several("query", query, &universe)?;
        symbol::refuse_bse("query", query)?;
        let forum = context.services.get::<ValuePickr>();
        let found = match universe.find_named(query) {
            StockMatch::One(stock) => {
                discussion(&forum, query, &Naming::of_stock(stock, &universe), context).await?
            }
            // A topic's own slug, or a company that is not known here.
            StockMatch::Nothing => discussion(&forum, query, &Naming::of_text(query), context).await?,
            // The text fits several stocks, and nothing distinguishes them.
            StockMatch::PartOf(_) => None,
        };
        let mut provenance = provenance(PROFILE.name, forum.now());
        if found.is_none() {
            provenance.warnings.push(nothing(query, &universe));
        }
        let Some(found) = found else {
            return Ok(Reply { data: GetStockThesisOutput::default(), provenance });
        };
        let (data, outside) = output(found).await;
        provenance.warnings.extend((!data.excerpts.is_empty()).then(|| CAVEAT.to_owned()));
        provenance.warnings.extend(outside.warnings());
        Ok(Reply { data, provenance })
    }
}

/// The discussion of a stock, or the one of that slug, if there is one.
async fn discussion(
    forum: &ValuePickr,
    query: &str,
    naming: &Naming,
    context: &ToolContext,
) -> Result<Option<Discussion>, Failure> {
    for words in naming.words() {
        let found = forum.search(words, Order::Relevance, context).await?;
        let Some(topic) = best(found, query, naming) else { continue };
        return match forum.discussion(&topic, context).await {
            // Found, and gone since.
            Err(Failure { kind: FailureKind::NotFound, .. }) => Ok(None),
            discussion => discussion.map(Some),
        };
    }
    Ok(None)
}

/// The topic of that slug, or the one that names the stock best in its title; of several the longest. One that only
/// mentions it elsewhere is about something else.
fn best(mut topics: Vec<Topic>, query: &str, naming: &Naming) -> Option<Topic> {
    if let Some(at) = topics.iter().position(|topic| &*topic.slug == query) {
        return Some(topics.swap_remove(at));
    }
    let named = topics.into_iter().filter_map(|topic| Some((naming.in_title(&topic.title)?, topic)));
    named.max_by_key(|(likeness, topic)| (*likeness, topic.posts_count)).map(|(_, topic)| topic)
}

/// What to say where there is no discussion: of a known stock that is an answer, of anything else it is none.
fn nothing(query: &str, universe: &Universe) -> String {
    match universe.find_named(query) {
        StockMatch::One(stock) => {
            format!("ValuePickr has no discussion with {} or {} in its title.", stock.name, stock.symbol)
        }
        StockMatch::PartOf(_) => universe.unknown(query),
        StockMatch::Nothing => format!(
            "{} The name of a company and a slug of ValuePickr are looked for as well: no title has this.",
            universe.unknown(query)
        ),
    }
}

async fn output(discussion: Discussion) -> (GetStockThesisOutput, Outside) {
    let Discussion { url, posts_count, last_activity, thesis, recent } = discussion;
    let bytes = thesis.len() + recent.iter().map(|post| post.len()).sum::<usize>();
    let read = move || {
        let mut outside = Outside::default();
        let thesis = outside.clean(&thesis);
        let recent = recent.iter().rev().map(|post| outside.clean_with_mood("", post));
        let recent: Vec<_> = recent.filter(|(post, _)| !post.is_empty()).collect();
        (thesis, recent, outside)
    };
    let (thesis, recent, outside) = offload::if_large(bytes, read).await;
    let data = GetStockThesisOutput {
        found: true,
        topic_url: Some(url.into()),
        thesis_summary: Some(thesis.into()),
        recent_sentiment: Some(in_words(&recent.iter().map(|(_, mood)| *mood).collect::<Vec<_>>())),
        last_activity: Some(time(last_activity)),
        posts_count: Some(i32::try_from(posts_count).unwrap_or(i32::MAX)),
        excerpts: recent.iter().map(|(post, _)| post.beginning(MAX_EXCERPT).into()).collect(),
    };
    (data, outside)
}

/// The mood of the newest posts in our own words, and that of each: `Last 3 posts by word list: 1 positive, 1 neutral,
/// 1 negative (newest first: neutral, negative, positive).`
fn in_words(moods: &[Mood]) -> String {
    let Some(counts) = together(moods.iter().copied()) else {
        return "No posts after the first one.".to_owned();
    };
    let each: Vec<_> = moods.iter().map(Mood::into_str).collect();
    format!(
        "Last {} posts by word list: {} positive, {} neutral, {} negative (newest first: {}).",
        moods.len(),
        counts.positive,
        counts.neutral,
        counts.negative,
        each.join(", ")
    )
}

/// How many of the newest posts are positive and how many negative, of a text that `in_words` wrote.
pub(in super::super) fn mood_counts(recent_sentiment: &str) -> Option<(u32, u32)> {
    let (_, counts) = recent_sentiment.split_once(" posts by word list: ")?;
    let count = |mood: &str| {
        let before = counts.split_once(mood)?.0;
        before.rsplit(' ').next()?.parse().ok()
    };
    Some((count(" positive")?, count(" negative")?))
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use toolwire_sources::upstream::text::Passage;

    #[test]
    fn the_moods_in_words_are_read_as_they_were_counted() {
        let moods = [Mood::Negative, Mood::Neutral, Mood::Negative, Mood::Positive];
        assert_eq!(mood_counts(&in_words(&moods)), Some((1, 2)));
        assert_eq!(mood_counts(&in_words(&[])), None);
    }

    #[tokio::test]
    async fn long_posts_are_read_beside_the_thread_that_carries_calls() {
        for (length, works) in [(100, 0), (4000, 1)] {
            let discussion = Discussion {
                url: "https://forum.example/t/7".parse().unwrap(),
                posts_count: 6,
                last_activity: DateTime::UNIX_EPOCH,
                thesis: Passage::default(),
                recent: vec![Passage::of(&"to ai do ".repeat(500), length); 5],
            };
            let before = offload::testing::requested_count();
            assert_eq!(output(discussion).await.0.posts_count, Some(6));
            assert_eq!(offload::testing::requested_count() - before, works, "{length}");
        }
    }
}
