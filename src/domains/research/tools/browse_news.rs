//! `browse_news`: market-moving headlines (spec 004 §3.4).

use super::{one_of, outside::Outside, provenance, required, time};
use crate::{
    context::{Required, ToolContext, Unfinished},
    domains::research::proto::v1::{self, BrowseNewsOutput, BrowseNewsRequest},
    domains::research::sources::news::{Article, Category, News, PROFILE},
    tool::{Reply, Tool},
};

/// `browse_news`.
#[derive(Clone, Copy, Debug)]
pub struct BrowseNews;

impl Tool for BrowseNews {
    const NAME: &'static str = "browse_news";
    type Input = BrowseNewsRequest;
    type Output = BrowseNewsOutput;

    fn services() -> Required {
        Required::none().of::<News>()
    }

    async fn execute(
        &self,
        input: BrowseNewsRequest,
        context: &ToolContext,
    ) -> Result<Reply<BrowseNewsOutput>, Unfinished> {
        let word = required("category", input.category.as_deref())?;
        let category = one_of("category", word, category(word))?;
        let limit = usize::try_from(input.limit.unwrap_or(10)).unwrap_or(0);
        let news = context.services.get::<News>();
        let headlines = news.headlines(category, context).await?;
        let newest = headlines.articles.iter().find_map(|article| article.published_at);
        let mut provenance = provenance(PROFILE.name, newest.unwrap_or_else(|| news.now()));
        provenance.warnings = headlines.warnings;
        let mut outside = Outside::default();
        let articles = without_orders(headlines.articles, limit, &mut outside);
        provenance.warnings.extend(outside.warnings());
        let data = BrowseNewsOutput {
            category: word.to_owned(),
            stale: headlines.is_stale,
            headlines: articles.into_iter().map(article_message).collect(),
        };
        Ok(Reply { data, provenance })
    }
}

fn category(word: &str) -> Option<Category> {
    match word {
        "markets" => Some(Category::Markets),
        "stocks" => Some(Category::Stocks),
        "economy" => Some(Category::Economy),
        _ => None,
    }
}

/// The first articles without what gives orders.
pub(super) fn without_orders(
    mut articles: Vec<Article>,
    limit: usize,
    outside: &mut Outside,
) -> Vec<Article> {
    articles.truncate(limit);
    let articles = outside.titled(articles, |article| &article.title);
    articles.into_iter().map(|it| Article { summary: outside.kept(&it.summary), ..it }).collect()
}

fn article_message(article: Article) -> v1::Article {
    v1::Article {
        title: article.title.into(),
        summary: article.summary.into(),
        source: article.publisher.into(),
        published_at: article.published_at.map(time),
        url: article.url.map(String::from).unwrap_or_default(),
    }
}
