//! `get_facts`: an educational snippet on a topic (spec 000).

use super::required;
use crate::{
    context::{Required, ToolContext, Unfinished},
    contract::{ErrorCode, ToolError},
    domains::brokerage::proto::v1::{GetFactsOutput, GetFactsRequest},
    domains::brokerage::source::{Answer, Brokerage, FALLBACK, Facts},
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
        let Answer { fact, is_fallback } = data.facts().find(topic).ok_or_else(missing)?;
        let mut provenance = data.provenance_of(fact, "tool:facts:v1");
        provenance.warnings.extend(is_fallback.then(|| fallen_back(data.facts())));
        let data = GetFactsOutput {
            topic: topic.to_owned(),
            snippet: fact.snippet.clone(),
            source: format!("facts/{}", fact.file_name),
            as_of: provenance.as_of.clone(),
        };
        Ok(Reply { data, provenance })
    }
}

/// 000 answers every topic; what does not answer it is said to be no answer.
fn fallen_back(facts: &Facts) -> String {
    let topics = facts.topics().collect::<Vec<_>>().join(", ");
    format!(
        "There is no text on this topic, so this is the general one on rebalancing. There are texts on: {topics}."
    )
}

/// 000 always has an answer; only an installation without its files has none.
fn missing() -> ToolError {
    ToolError::new(ErrorCode::Unavailable, format!("Missing facts/{FALLBACK}"))
}
