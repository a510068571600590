//! `browse_news`: market-moving headlines.

use super::{one_of, outside::Outside, provenance, recorded_warning, required, time, truncate_list};
use crate::{
    proto::v1::{self, BrowseNewsOutput, BrowseNewsRequest},
    sources::news::{Article, News, PROFILE},
};
use toolwire_base::offload;
use toolwire_tool::{
    Reply, Tool,
    context::{Required, ToolContext, Unfinished},
};

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
        let category = one_of("category", word, word.parse().ok())?;
        let news = context.services.get::<News>();
        let mut headlines = news.headlines(category, context).await?;
        let newest = headlines.articles.iter().find_map(|article| article.published_at);
        let mut provenance = provenance(PROFILE.name, newest.unwrap_or_else(|| news.now()));
        provenance.warnings =
            recorded_warning(news.recorded_at()).into_iter().chain(headlines.warnings).collect();
        let limit = Some(input.limit.unwrap_or(10));
        truncate_list(&mut headlines.articles, limit, "headlines", &mut provenance);
        let (articles, outside) = without_orders(headlines.articles).await;
        provenance.warnings.extend(outside.warnings());
        let data = BrowseNewsOutput {
            category: word.to_owned(),
            stale: headlines.is_stale || news.recorded_at().is_some(),
            headlines: articles.into_iter().map(article_message).collect(),
        };
        Ok(Reply { data, provenance })
    }
}

/// The articles without what gives orders, and what is left out.
pub(super) async fn without_orders(articles: Vec<Article>) -> (Vec<Article>, Outside) {
    let bytes = articles.iter().map(|article| article.title.len() + article.summary.len()).sum();
    let read = move || {
        let mut outside = Outside::default();
        let articles = outside.drop_by_title(articles, |article| &article.title);
        let kept = articles.into_iter().map(|it| Article { summary: outside.clean(&it.summary), ..it });
        (kept.collect(), outside)
    };
    offload::if_large(bytes, read).await
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

#[cfg(test)]
mod tests {
    use super::*;
    use toolwire_sources::upstream::text::{Line, Passage};

    #[tokio::test]
    async fn many_articles_are_read_beside_the_thread_that_carries_calls() {
        let article = Article {
            title: Line::of(&"to ai do ".repeat(30)),
            summary: Passage::of(&"to ai do ".repeat(30), 300),
            publisher: Line::default(),
            published_at: None,
            url: None,
        };
        for (limit, works) in [(10, 0), (50, 1)] {
            let before = offload::testing::requested_count();
            assert_eq!(without_orders(vec![article.clone(); limit]).await.0.len(), limit);
            assert_eq!(offload::testing::requested_count() - before, works, "{limit}");
        }
    }
}
