//! `get_facts`: an educational snippet on a topic (spec 000).

use super::required;
use crate::{
    context::{Required, ToolContext, Unfinished},
    contract::{ErrorCode, Provenance, ToolError},
    domains::brokerage::proto::v1::{GetFactsOutput, GetFactsRequest},
    domains::brokerage::source::{Brokerage, FALLBACK},
    tool::{Reply, Tool},
};

/// `get_facts`.
#[derive(Clone, Copy, Debug)]
pub struct GetFacts;

impl Tool for GetFacts {
    const NAME: &'static str = "get_facts";
    type Input = GetFactsRequest;
    type Output = GetFactsOutput;

    fn services() -> Required {
        super::services()
    }

    async fn execute(
        &self,
        input: GetFactsRequest,
        context: &ToolContext,
    ) -> Result<Reply<GetFactsOutput>, Unfinished> {
        let topic = required("topic", input.topic.as_deref())?;
        // Facts belong to no user: all files are looked at, not only the caller's.
        let data = context.pins.get_or_pin(|| context.services.get::<Brokerage>().current());
        let fact = data.facts().find(topic).ok_or_else(missing)?;
        let as_of = data.as_of();
        let data = GetFactsOutput {
            topic: topic.to_owned(),
            snippet: fact.snippet.clone(),
            source: format!("facts/{}", fact.file_name),
            as_of: as_of.to_owned(),
        };
        Ok(Reply { data, provenance: Provenance::of("tool:facts:v1", as_of) })
    }
}

/// 000 always has an answer; only an installation without its files has none.
fn missing() -> ToolError {
    ToolError::new(ErrorCode::Unavailable, format!("Missing facts/{FALLBACK}"))
}
