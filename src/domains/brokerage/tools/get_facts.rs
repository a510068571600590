//! `get_facts`: an educational snippet on a topic.

use super::required;
use crate::{
    proto::v1::{GetFactsOutput, GetFactsRequest},
    source::{Brokerage, FALLBACK, Fact, Facts, Fit, Snippet},
};
use toolwire_contract::{ErrorCode, ToolError};
use toolwire_tool::{
    Reply, Tool,
    context::{Required, ToolContext, Unfinished},
};

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
        let Snippet { fact, fit } = data.facts().find(topic).ok_or_else(missing)?;
        let mut provenance = data.provenance_of(fact, "tool:facts:v1");
        provenance.warnings.extend(warning(&fit, fact, data.facts()));
        let data = GetFactsOutput {
            topic: topic.to_owned(),
            snippet: fact.snippet.clone(),
            source: format!("facts/{}", fact.file_name),
            as_of: provenance.as_of.clone(),
        };
        Ok(Reply { data, provenance })
    }
}

/// Every topic has an answer: a warning states that a text does not fit it, or only in part.
fn warning(fit: &Fit, fact: &Fact, facts: &Facts) -> Option<String> {
    let topics = facts.topics().collect::<Vec<_>>().join(", ");
    let said = match fit {
        Fit::Exact => return None,
        Fit::Fallback => {
            "There is no text on this topic, so this is the general one on rebalancing.".to_owned()
        }
        Fit::Partial { has, lacks } => partial(&fact.topic(), has, lacks),
    };
    Some(format!("{said} There are texts on: {topics}."))
}

fn partial(topic: &str, has: &[String], lacks: &[String]) -> String {
    let listed =
        |words: &[String]| words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(", ");
    let but_not = match lacks {
        [] => String::new(),
        lacks => format!(" and nothing on {}", listed(lacks)),
    };
    format!(
        "There is no text on exactly this topic. This is the one on {topic}, which has {}{but_not}; it may \
         not be what was meant.",
        listed(has)
    )
}

/// Only an installation without its files has no answer.
fn missing() -> ToolError {
    ToolError::new(ErrorCode::Unavailable, format!("Missing facts/{FALLBACK}"))
}
