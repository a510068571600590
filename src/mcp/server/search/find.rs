//! Finds tools by words: the more of them a tool mentions, the earlier it comes.

use std::cmp::Reverse;

use prost::Message;
use rmcp::{ErrorData, model::CallToolResult};
use serde::Deserialize;
use serde_json::{Value, json};
use tonic::Status;

use super::super::{
    call_facts::CallFacts,
    handler::Handler,
    outcome,
    search_tools::{DEFAULT_LIMIT, MAX_LIMIT},
    services::Services,
};
use toolwire_contract::proto::v1::{ListToolsRequest, ToolCategory, ToolDefinition, ToolState, ToolView};

/// The words of a query that count.
const MAX_WORDS: usize = 8;
/// Shorter words stand in nearly every description. They count where there are no others.
const MIN_LENGTH: usize = 3;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Find {
    query: String,
    #[serde(default)]
    limit: Option<usize>,
}

impl Find {
    pub(super) async fn answer(self, handler: &Handler) -> Result<CallToolResult, ErrorData> {
        let limit = self.limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Ok(outcome::invalid_argument("/limit", &format!("limit must be 1 to {MAX_LIMIT}")));
        }
        match find(&handler.services, handler.tags(), &words(&self.query)).await {
            Ok(found) => Ok(outcome::structured(shown(&found, limit))),
            Err(status) => outcome::of_status(&status, &CallFacts::default()),
        }
    }
}

/// The tools with these tags that mention any of the words and can be called, the best first.
async fn find(services: &Services, tags: &[String], words: &[String]) -> Result<Vec<ToolDefinition>, Status> {
    // The server looks for one word. Of several, each is looked for in one list of all tools, whatever their number.
    let (text, view) = match words {
        [word] => (word.as_str(), ToolView::Basic),
        _ => ("", ToolView::FullJson),
    };
    let tools = list(services, tags, text, view).await?;
    let mentions = |tool: &ToolDefinition| if words.len() == 1 { 1 } else { count_mentions(tool, words) };
    let mut found: Vec<_> = tools.into_iter().map(|tool| (mentions(&tool), tool)).collect();
    found.retain(|(mentions, _)| *mentions > 0);
    // Equally good ones stay in order of name.
    found.sort_by_key(|(mentions, _)| Reverse(*mentions));
    Ok(found.into_iter().map(|(_, tool)| tool).collect())
}

/// How many of the words a tool mentions, where a list by one word looks too.
fn count_mentions(tool: &ToolDefinition, words: &[String]) -> usize {
    let ToolDefinition { name, title, description, tags, utterances, .. } = tool;
    let texts = [name, title, description].into_iter().chain(tags).chain(utterances);
    let texts: Vec<_> = texts.map(|text| text.to_lowercase()).collect();
    words.iter().filter(|word| texts.iter().any(|text| text.contains(word.as_str()))).count()
}

/// The tools that mention a text and can be called.
async fn list(
    services: &Services,
    tags: &[String],
    text: &str,
    view: ToolView,
) -> Result<Vec<ToolDefinition>, Status> {
    let request = ListToolsRequest {
        tags: tags.to_vec(),
        text: text.to_owned(),
        view: view.into(),
        ..ListToolsRequest::default()
    };
    let mut answers = services.tools().list_tools(request).await?.into_inner();
    let mut tools = Vec::new();
    while let Some(answer) = answers.message().await? {
        let tool = ToolDefinition::decode(&*answer.tool)
            .map_err(|error| Status::internal(format!("a definition cannot be read: {error}")))?;
        let is_disabled = tool.status.as_ref().is_some_and(|status| status.state() == ToolState::Disabled);
        if !is_disabled {
            tools.push(tool);
        }
    }
    Ok(tools)
}

/// The words of a query that are looked for. One empty word, which every tool mentions, if there are none.
fn words(query: &str) -> Vec<String> {
    let all = query.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut words: Vec<_> = all.map(str::to_lowercase).collect();
    if words.iter().any(|word| word.chars().count() >= MIN_LENGTH) {
        words.retain(|word| word.chars().count() >= MIN_LENGTH);
    }
    words.sort_unstable();
    words.dedup();
    words.truncate(MAX_WORDS);
    if words.is_empty() { vec![String::new()] } else { words }
}

fn shown(found: &[ToolDefinition], limit: usize) -> Value {
    let tool = |tool: &ToolDefinition| {
        json!({
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "read_only": tool.category() == ToolCategory::Read,
        })
    };
    let tools: Vec<_> = found.iter().take(limit).map(tool).collect();
    let mut shown = json!({"tools": tools, "more": found.len().saturating_sub(limit)});
    if found.is_empty() {
        shown["advice"] =
            "No tool mentions any of these words: try others, or an empty query for all.".into();
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        future::ready,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
    };

    use bytes::Bytes;
    use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
    use http_body_util::{BodyExt, Full};
    use tonic::body::Body;
    use tower::{BoxError, service_fn};

    use super::*;
    use toolwire_contract::proto::v1::ListToolsResponse;

    /// The services of a server that answers every request with these tools, and counts them.
    fn services(tools: &[ToolDefinition], requests: &Arc<AtomicUsize>) -> Services {
        let frame = |tool: &ToolDefinition| {
            let tool = tool.encode_to_vec().into();
            let message = ListToolsResponse { tool }.encode_to_vec();
            let length = u32::try_from(message.len()).unwrap().to_be_bytes();
            [&[0][..], &length, &message].concat()
        };
        let frames = Bytes::from(tools.iter().flat_map(frame).collect::<Vec<_>>());
        let requests = Arc::clone(requests);
        let answer = move |_: Request<Body>| {
            requests.fetch_add(1, Ordering::Relaxed);
            let status = (HeaderName::from_static("grpc-status"), HeaderValue::from_static("0"));
            let trailers = Ok::<_, Infallible>(HeaderMap::from_iter([status]));
            let body = Full::new(frames.clone()).with_trailers(ready(Some(trailers)));
            let answer = Response::builder().header("content-type", "application/grpc").body(Body::new(body));
            async move { Ok::<_, BoxError>(answer.unwrap()) }
        };
        Services::new(service_fn(answer), usize::MAX)
    }

    #[tokio::test]
    async fn a_query_of_several_words_is_one_list() {
        let tool = |name: &str, description: &str, utterance: &str| ToolDefinition {
            name: name.to_owned(),
            description: description.to_owned(),
            utterances: vec![utterance.to_owned()],
            ..ToolDefinition::default()
        };
        let tools = [
            tool("a", "The status of a parcel.", ""),
            tool("b", "An ORDER, by number.", "where is my order?"),
            tool("c", "Order status.", "Where is it"),
            tool("d", "Weather.", ""),
        ];
        let requests = Arc::new(AtomicUsize::new(0));
        let found =
            find(&services(&tools, &requests), &[], &words("Where is my order status, please?")).await;
        let names: Vec<_> = found.unwrap().into_iter().map(|tool| tool.name).collect();
        assert_eq!((names.join(" "), requests.load(Ordering::Relaxed)), ("c b a".to_owned(), 1));
    }

    #[test]
    fn words_are_looked_for_whatever_their_case_and_what_stands_between_them() {
        assert_eq!(words("Where is my Order, order-status?"), ["order", "status", "where"]);
        assert_eq!(words("a is"), ["a", "is"]);
        for nothing in ["", "  ", "?!"] {
            assert_eq!(words(nothing), [""]);
        }
        let long = (0..100).map(|number| format!("word{number:03}")).collect::<Vec<_>>().join(" ");
        assert_eq!(words(&long).len(), MAX_WORDS);
    }
}
