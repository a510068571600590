//! `get_news`: recent news about a stock.

use chrono::TimeDelta;

use super::{browse_news::without_orders, provenance, recorded_warning, symbol, time, truncate_list};
use crate::{
    proto::v1::{GetNewsOutput, GetNewsRequest, StockArticle},
    sources::{
        news::{Article, Articles, News, PROFILE, warn_lost},
        universe::Universe,
    },
};
use toolwire_contract::arguments::Arguments;
use toolwire_tool::{
    Reply, Tool,
    context::{Required, Services, ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct GetNews;

impl Tool for GetNews {
    const NAME: &'static str = "get_news";
    type Input = GetNewsRequest;
    type Output = GetNewsOutput;

    fn services() -> Required {
        symbol::services().of::<News>()
    }

    fn normalize(arguments: &mut Arguments, services: &Services) {
        symbol::normalize(arguments, services);
    }

    async fn execute(
        &self,
        input: GetNewsRequest,
        context: &ToolContext,
    ) -> Result<Reply<GetNewsOutput>, Unfinished> {
        let symbol = symbol::of(input.symbol.as_deref(), context)?;
        let days = input.days.unwrap_or(7);
        let universe = context.services.get::<Universe>();
        // The company's name: a symbol alone is often an everyday word.
        let name = universe.get(&symbol).map_or(symbol.as_str(), |stock| stock.name.as_str());
        let news = context.services.get::<News>();
        let Articles { mut articles, left_out } = news.about(name, days.unsigned_abs(), context).await?;
        let undated = articles.iter().filter(|article| article.published_at.is_none()).count();
        let earliest = news.now() - TimeDelta::days(days.into());
        articles.retain(|article| article.published_at.is_some_and(|published| published >= earliest));
        // No articles, or recorded ones, cannot be called new.
        let stale = articles.is_empty() || news.recorded_at().is_some();
        let mut provenance = provenance(PROFILE.name, news.now());
        provenance.warnings.extend(symbol::doubt(&symbol, context));
        provenance.warnings.extend(recorded_warning(news.recorded_at()));
        truncate_list(&mut articles, Some(input.limit.unwrap_or(10)), "articles", &mut provenance);
        let (articles, outside) = without_orders(articles).await;
        provenance.warnings.extend(warn_lost("Google News", left_out));
        if undated > 0 {
            provenance.warnings.push(format!("Left out, without a date that can be read: {undated}."));
        }
        provenance.warnings.extend(outside.warnings());
        let articles = articles.into_iter().map(message).collect();
        Ok(Reply { data: GetNewsOutput { symbol, days, stale, articles }, provenance })
    }
}

/// Its summary, of which Google News makes the title once more, is not read any further.
fn message(article: Article) -> StockArticle {
    StockArticle {
        title: article.title.into(),
        source: article.publisher.into(),
        // One without a date was left out.
        published_at: article.published_at.map(time).unwrap_or_default(),
        url: article.url.map(String::from).unwrap_or_default(),
    }
}
