//! Four tools in place of the list, for clients that take few: a model finds a tool, reads its description, and calls
//! it through one of two.
//!
//! The call is that of the tool found: its approvals, digest, limits and `request_id`. Not here: carrying it out.

mod find;

use rmcp::ErrorData;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use self::find::Find;
use super::{
    call_facts::CallFacts,
    confirmation_mode::ConfirmationMode,
    handler::Handler,
    outcome::{self, Answer},
    progress::Progress,
    request::{Invocation, UnreadableArguments},
    search_tools::{CALL, CALL_READ, DESCRIBE, FIND},
};
use toolwire_contract::{Refusal, proto::v1};

/// The member of the arguments that has the arguments of the tool found.
const ARGUMENTS: &str = "arguments";
/// What no definition has for a digest.
const NO_DIGEST: &str = "0000000000000000000000000000000000000000000000000000000000000000";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Describe {
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    name: String,
    #[serde(default)]
    arguments: Value,
}

impl Invocation {
    /// Answers a call of one of the four.
    pub(super) async fn answer_by_search(
        self,
        handler: &Handler,
        mode: ConfirmationMode,
        progress: Progress,
    ) -> Result<Answer, ErrorData> {
        match &*self.tool {
            FIND => match read::<Find>(&self) {
                Ok(request) => Ok(request.answer(handler).await?.into()),
                Err(what) => Ok(invalid(&what)),
            },
            DESCRIBE => match read(&self) {
                Ok(request) => describe(handler, request).await,
                Err(what) => Ok(invalid(&what)),
            },
            CALL => carry_out(handler, self, false, mode, progress).await,
            CALL_READ => carry_out(handler, self, true, mode, progress).await,
            other => Err(ErrorData::invalid_params(
                format!("Unknown tool: {other}. This URL has {FIND}, {DESCRIBE}, {CALL_READ} and {CALL}"),
                None,
            )),
        }
    }
}

/// Describes a tool as a list does.
async fn describe(handler: &Handler, Describe { name }: Describe) -> Result<Answer, ErrorData> {
    let services = &handler.services;
    let message = v1::GetToolRequest { name: name.clone(), view: v1::ToolView::Basic.into() };
    if let Err(status) = services.tools().get_tool(message).await {
        return outcome::of_refusal(&status, &CallFacts::default());
    }
    let Some(tool) = handler.shared.listings.tool(services, &name).await? else {
        let refusal = Refusal::ToolDisabled { tool: name, reason: "it cannot be called now".to_owned() };
        return outcome::of_status(&refusal.into(), &CallFacts::default()).map(Answer::from);
    };
    Ok(outcome::structured(tool).into())
}

/// Calls the tool that the arguments name. With `only_reads` any but a READ is refused.
async fn carry_out(
    handler: &Handler,
    mut invocation: Invocation,
    only_reads: bool,
    mode: ConfirmationMode,
    progress: Progress,
) -> Result<Answer, ErrorData> {
    if let Err(what) = unwrap(&mut invocation) {
        return Ok(invalid(&what));
    }
    if !only_reads {
        let tool = invocation.find_tool(handler).await;
        return invocation.carry_out(handler, tool, mode, progress).await;
    }
    // The definition is looked up without the cache and bound to the call: a tool that becomes a write meanwhile must
    // not run as a read.
    let tool = handler.known().renew(&handler.services, &invocation.tool).await;
    match &tool {
        Ok(Some(tool)) => {
            let name = &invocation.tool;
            if !tool.is_read {
                return Ok(invalid(&format!("name: {name} does more than read: call it by {CALL}")));
            }
            if invocation.expected_digest.is_empty() {
                invocation.expected_digest.clone_from(&tool.digest);
            } else if invocation.expected_digest != tool.digest {
                let refusal = Refusal::DefinitionChanged { tool: name.clone() };
                return outcome::of_status(&refusal.into(), &CallFacts::default()).map(Answer::from);
            }
        }
        // It may be any tool that is offered from a moment later on, and none has this digest.
        Ok(None) => NO_DIGEST.clone_into(&mut invocation.expected_digest),
        Err(_) => {}
    }
    invocation.carry_out(handler, tool, mode, progress).await
}

/// Makes the call of one of the four that of the tool that its arguments name.
fn unwrap(invocation: &mut Invocation) -> Result<(), String> {
    let outer = invocation.unreadable.take();
    let members = Value::Object(std::mem::take(&mut invocation.arguments));
    let Call { name, arguments } = serde_json::from_value(members).map_err(|error| error.to_string())?;
    invocation.tool = name;
    match (outer, arguments) {
        // What cannot be read must be in the arguments of the tool found: it is the call that says so.
        (Some(outer), _) => {
            let within = outer.member(ARGUMENTS).filter(UnreadableArguments::is_unreadable);
            invocation.unreadable = Some(within.ok_or("the arguments have a member twice")?);
        }
        (None, Value::Object(arguments)) => invocation.arguments = arguments,
        (None, Value::Null) => {}
        (None, other) => invocation.unreadable = Some(UnreadableArguments::of_value(&other)),
    }
    Ok(())
}

/// The arguments of one of the four that calls no tool.
fn read<T: DeserializeOwned>(invocation: &Invocation) -> Result<T, String> {
    if invocation.unreadable.is_some() {
        return Err("the arguments cannot be read: a member twice, or a number that is not exact".to_owned());
    }
    serde_json::from_value(Value::Object(invocation.arguments.clone())).map_err(|error| error.to_string())
}

fn invalid(what: &str) -> Answer {
    outcome::invalid_argument("", what).into()
}

#[cfg(test)]
mod tests {
    use rmcp::model::{CallToolRequestParams, JsonObject, RequestMetaObject};
    use serde_json::json;

    use super::*;

    fn unwrapped(arguments: &Value) -> Result<Invocation, String> {
        let body = json!({"params": {"name": CALL, "arguments": arguments}}).to_string();
        unwrapped_text(&body)
    }

    fn unwrapped_text(body: &str) -> Result<Invocation, String> {
        let whole: Value = serde_json::from_str(body).unwrap();
        let Value::Object(arguments) = whole["params"]["arguments"].clone() else {
            unreachable!("an object")
        };
        let params = CallToolRequestParams::new(CALL).with_arguments(arguments);
        let unreadable = UnreadableArguments::of(body.as_bytes());
        let mut invocation =
            Invocation::read(params, unreadable, &RequestMetaObject::from(JsonObject::new())).unwrap();
        unwrap(&mut invocation).map(|()| invocation)
    }

    #[test]
    fn the_call_becomes_that_of_the_tool_found() {
        let mut call = unwrapped(&json!({"name": "refund", "arguments": {"n": 1}})).unwrap();
        assert_eq!(call.tool, "refund");
        assert_eq!(Value::Object(call.take_arguments().unwrap()), json!({"n": 1}));
        for nothing in [json!({"name": "refund"}), json!({"name": "refund", "arguments": null})] {
            assert_eq!(unwrapped(&nothing).unwrap().take_arguments().unwrap().len(), 0);
        }
        for (other, words) in [
            (json!({}), "name"),
            (json!({"name": 7}), "string"),
            (json!({"name": "refund", "n": 1}), "unknown field"),
        ] {
            let error = unwrapped(&other).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn arguments_that_are_no_object_or_would_change_are_refused_by_the_call() {
        for other in [json!("{\"n\": 1}"), json!([1]), json!(7)] {
            let mut call = unwrapped(&json!({"name": "refund", "arguments": other})).unwrap();
            call.take_arguments().unwrap_err();
        }
        let call = |arguments: &str| {
            unwrapped_text(&format!(r#"{{"params": {{"name": "call_tool", "arguments": {arguments}}}}}"#))
        };
        let inexact = r#"{"name": "refund", "arguments": {"n": 0.10000000000000001}}"#;
        assert_eq!(call(inexact).unwrap().take_arguments().unwrap_err().rule, "exact");
        // It may have meant either.
        call(r#"{"name": "a", "name": "refund", "arguments": {"n": 1}}"#).unwrap_err();
    }
}
