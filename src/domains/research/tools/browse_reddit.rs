//! `browse_reddit`: recent posts of an investing subreddit, and their mood.

use super::{
    one_of,
    opinion::{Opinion, opinions},
    provenance, required,
    sentiment::{CAVEAT, together},
    time,
};
use crate::{
    proto::v1::{BrowseRedditOutput, BrowseRedditRequest, RedditPost},
    sources::reddit::{PROFILE, Reddit},
};
use toolwire_tool::{
    Reply, Tool,
    context::{Required, ToolContext, Unfinished},
};

/// The bound on the beginning of a text that is shown, in characters.
pub(super) const MAX_EXCERPT: usize = 300;

/// What Reddit writes for the author of a deleted account.
const NOBODY: &str = "[deleted]";

pub(super) const SUBREDDITS: [&str; 2] = ["IndiaInvestments", "IndianStockMarket"];

#[derive(Clone, Copy, Debug)]
pub struct BrowseReddit;

impl Tool for BrowseReddit {
    const NAME: &'static str = "browse_reddit";
    type Input = BrowseRedditRequest;
    type Output = BrowseRedditOutput;

    fn services() -> Required {
        Required::none().of::<Reddit>()
    }

    async fn execute(
        &self,
        input: BrowseRedditRequest,
        context: &ToolContext,
    ) -> Result<Reply<BrowseRedditOutput>, Unfinished> {
        let word = required("subreddit", input.subreddit.as_deref())?;
        let known = SUBREDDITS.into_iter().find(|subreddit| *subreddit == word);
        let subreddit = one_of("subreddit", word, known)?;
        let word = required("sort", input.sort.as_deref())?;
        let sort = one_of("sort", word, word.parse().ok())?;
        let limit = usize::try_from(input.limit.unwrap_or(10)).unwrap_or(0);
        let reddit = context.services.get::<Reddit>();
        let mut posts = reddit.posts(subreddit, sort, limit, context).await?;
        let mut provenance = provenance(PROFILE.name, reddit.now());
        // Hardly more than `limit` are requested, so that the total is not known.
        if posts.len() > limit {
            posts.truncate(limit);
            provenance.warn_cut(format!("The first {limit} posts are shown, and there are more."));
        }
        let found = posts.into_iter().map(|post| (subreddit, post)).collect();
        let (posts, outside) = opinions(found, |_| true).await;
        let sentiment = together(posts.iter().map(|opinion| opinion.mood));
        provenance.warnings.extend(sentiment.is_some().then(|| CAVEAT.to_owned()));
        provenance.warnings.extend(outside.warnings());
        let data = BrowseRedditOutput {
            subreddit: subreddit.to_owned(),
            posts: posts.into_iter().map(post_message).collect(),
            sentiment,
        };
        Ok(Reply { data, provenance })
    }
}

fn post_message(Opinion { post, mood, .. }: Opinion) -> RedditPost {
    RedditPost {
        sentiment: mood.into_str().to_owned(),
        excerpt: post.text.beginning(MAX_EXCERPT).into(),
        created_at: time(post.created_at),
        permalink: post.permalink.into(),
        id: post.id.into(),
        title: post.title.into(),
        author: post.author.map_or_else(|| NOBODY.to_owned(), Into::into),
        score: post.score,
        upvote_ratio: post.upvote_ratio,
        num_comments: post.num_comments,
        flair: post.flair.map(Into::into),
    }
}
