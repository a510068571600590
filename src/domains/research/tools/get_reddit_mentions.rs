//! `get_reddit_mentions`: recent posts about a stock in both subreddits, and their mood.
//!
//! A search finds letters; which of the posts are about the stock is decided here (`mention`).

use chrono::TimeDelta;

use super::{
    browse_reddit::{MAX_EXCERPT, SUBREDDITS},
    mention::mentions,
    naming::Naming,
    opinion::{Opinion, SubredditPost, opinions},
    provenance,
    sentiment::{CAVEAT, together},
    symbol, time, truncate_list, warn_missing,
};
use crate::{
    proto::v1::{GetRedditMentionsOutput, GetRedditMentionsRequest, RedditMention},
    sources::{
        reddit::{PROFILE, Post, Reddit},
        universe::Universe,
    },
};
use toolwire_contract::arguments::Arguments;
use toolwire_sources::upstream::http::{Failure, FailureKind};
use toolwire_tool::{
    Reply, Tool,
    context::{Required, Services, ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct GetRedditMentions;

impl Tool for GetRedditMentions {
    const NAME: &'static str = "get_reddit_mentions";
    type Input = GetRedditMentionsRequest;
    type Output = GetRedditMentionsOutput;

    fn services() -> Required {
        symbol::services().of::<Reddit>()
    }

    fn normalize(arguments: &mut Arguments, services: &Services) {
        symbol::normalize(arguments, services);
    }

    async fn execute(
        &self,
        input: GetRedditMentionsRequest,
        context: &ToolContext,
    ) -> Result<Reply<GetRedditMentionsOutput>, Unfinished> {
        let symbol = symbol::of(input.symbol.as_deref(), context)?;
        let reddit = context.services.get::<Reddit>();
        let naming = naming(&symbol, &context.services.get::<Universe>());
        let (mut found, warnings) = search(&reddit, &query(&naming), context).await?;
        let earliest = reddit.now() - TimeDelta::days(input.days.unwrap_or(7).into());
        found.retain(|(_, post)| post.created_at >= earliest);
        found.sort_by_key(|(_, post)| std::cmp::Reverse(post.created_at));
        let is_one = move |post: &Post| mentions(&naming, &post.title) || mentions(&naming, &post.text);
        let (mut mentions, outside) = opinions(found, is_one).await;
        let mut provenance = provenance(PROFILE.name, reddit.now());
        provenance.warnings.extend(symbol::doubt(&symbol, context));
        provenance.warnings.extend(warnings);
        let mentions_count = i32::try_from(mentions.len()).unwrap_or(i32::MAX);
        let sentiment = together(mentions.iter().map(|opinion| opinion.mood));
        provenance.warnings.extend(sentiment.is_some().then(|| CAVEAT.to_owned()));
        truncate_list(&mut mentions, Some(input.limit.unwrap_or(10)), "mentions", &mut provenance);
        provenance.warnings.extend(outside.warnings());
        let data = GetRedditMentionsOutput {
            symbol,
            mentions_count,
            sentiment,
            mentions: mentions.into_iter().map(mention_message).collect(),
        };
        Ok(Reply { data, provenance })
    }
}

fn naming(symbol: &str, universe: &Universe) -> Naming {
    let unknown = || Naming { symbol: None, name: symbol.to_owned(), longer: Vec::new() };
    universe.get(symbol).map_or_else(unknown, |stock| Naming::of_stock(stock, universe))
}

/// The company's name or the symbol: `"Reliance Industries" OR RELIANCE`.
fn query(naming: &Naming) -> String {
    let quoted = |words: &str| if words.contains(' ') { format!("\"{words}\"") } else { words.to_owned() };
    naming.words().into_iter().map(quoted).collect::<Vec<_>>().join(" OR ")
}

/// The mentions in both subreddits. What one of them lacks is a warning, as long as the other was searched: what was
/// found before a limit is kept.
async fn search(
    reddit: &Reddit,
    query: &str,
    context: &ToolContext,
) -> Result<(Vec<SubredditPost>, Vec<String>), Failure> {
    let (mut mentions, mut warnings, mut failed) = (Vec::new(), Vec::new(), None);
    for subreddit in SUBREDDITS {
        match reddit.search(subreddit, query, context).await {
            Ok(posts) => mentions.extend(posts.into_iter().map(|post| (subreddit, post))),
            Err(failure) if failure.kind == FailureKind::Cancelled => return Err(failure),
            Err(failure) if failure.kind == FailureKind::NotFound => {
                warnings.push(format!("r/{subreddit} is not there or is closed."));
                failed = failed.or(Some(failure));
            }
            Err(failure) => {
                warnings.push(warn_missing(&format!("what r/{subreddit} has"), failure.clone()));
                // It says more than that the other subreddit is not there.
                failed = Some(failure);
            }
        }
    }
    match failed {
        Some(failure) if warnings.len() == SUBREDDITS.len() => Err(failure),
        _ => Ok((mentions, warnings)),
    }
}

fn mention_message(Opinion { subreddit, post, mood }: Opinion) -> RedditMention {
    RedditMention {
        subreddit: subreddit.to_owned(),
        sentiment: mood.into_str().to_owned(),
        excerpt: post.text.beginning(MAX_EXCERPT).into(),
        created_at: time(post.created_at),
        permalink: post.permalink.into(),
        title: post.title.into(),
        score: post.score,
    }
}
