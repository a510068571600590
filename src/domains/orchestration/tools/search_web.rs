//! `search_web`: what the web has about some words. What it returns was written by people outside.

use crate::{
    proto::v1::{SearchWebInput, SearchWebOutput, SearchWebResult},
    sources::search::{PROFILE, Page, Search},
};
use toolwire_base::words::counted;
use toolwire_contract::Provenance;
use toolwire_sources::upstream::orders;
use toolwire_tool::{
    Reply, Tool,
    argument::required,
    context::{Required, ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct SearchWeb;

impl Tool for SearchWeb {
    const NAME: &'static str = "search_web";
    type Input = SearchWebInput;
    type Output = SearchWebOutput;

    fn services() -> Required {
        Required::none().of::<Search>()
    }

    async fn execute(
        &self,
        input: SearchWebInput,
        context: &ToolContext,
    ) -> Result<Reply<SearchWebOutput>, Unfinished> {
        let query = required("query", input.query.as_deref())?;
        let search = context.services.get::<Search>();
        let mut pages = search.find(query, context).await?;
        pages.truncate(input.limit.unwrap_or(10) as usize);
        let day = search.now().format("%Y-%m-%d").to_string();
        let mut provenance = Provenance::of(format!("tool:{}:v1", PROFILE.name), day);
        if search.is_embedded() {
            let text =
                "These pages are invented: no search engine is configured, and the embedded one answers.";
            provenance.warnings.push(text.to_owned());
        }
        let mut left_out = 0;
        let results = pages.into_iter().map(|page| result(page, &mut left_out)).collect();
        if left_out > 0 {
            let what = counted(left_out, "sentence was", "sentences were");
            provenance.warnings.push(format!("{what} left out: orders to the reader or to a model."));
        }
        Ok(Reply { data: SearchWebOutput { results }, provenance })
    }
}

/// Converts a page, and leaves out the sentences of its snippet that give orders. `left_out` counts them.
fn result(page: Page, left_out: &mut u64) -> SearchWebResult {
    let kept = orders::leave_out(&page.snippet);
    *left_out += kept.left_out as u64;
    SearchWebResult {
        title: page.title.into(),
        url: page.url.into(),
        snippet: kept.text.into(),
        published: page.published.map(|day| day.to_string()).unwrap_or_default(),
    }
}
