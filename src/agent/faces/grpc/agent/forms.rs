//! Renders a turn's events in the form that its caller wants: JSON text, as the agent has it, or structures.

use prost_types::Struct;

use toolwire_contract::{
    convert::ResultFormat,
    json,
    proto::{
        agent::v1::{Paused, Reply, TurnEvent, tool_call_finished, turn_event::Event},
        v1::{ToolResult, tool_result::Outcome},
    },
};

/// An event in the wanted form.
pub(super) fn event_in(mut event: TurnEvent, format: ResultFormat) -> TurnEvent {
    if format == ResultFormat::Json {
        return event;
    }
    match &mut event.event {
        Some(Event::Plan(plan)) => {
            for call in &mut plan.calls {
                call.arguments = structure(&mut call.arguments_json);
            }
        }
        Some(Event::ToolCallStarted(call)) => call.arguments = structure(&mut call.arguments_json),
        Some(Event::ToolCallFinished(call)) => {
            if let Some(tool_call_finished::Outcome::Result(result)) = &mut call.outcome {
                in_structure(result);
            }
        }
        Some(Event::Paused(paused)) => *paused = render_paused(std::mem::take(paused), format),
        Some(Event::Final(reply)) => *reply = reply_in(std::mem::take(reply), format),
        _ => {}
    }
    event
}

/// A pause in the wanted form.
pub(super) fn render_paused(mut paused: Paused, format: ResultFormat) -> Paused {
    if format == ResultFormat::Struct {
        for call in &mut paused.pending {
            call.arguments = structure(&mut call.arguments_json);
        }
    }
    paused
}

/// A reply in the wanted form.
pub(super) fn reply_in(mut reply: Reply, format: ResultFormat) -> Reply {
    if format == ResultFormat::Json {
        return reply;
    }
    for made in &mut reply.tool_results {
        made.arguments = structure(&mut made.arguments_json);
        if let Some(result) = &mut made.result {
            in_structure(result);
        }
    }
    for call in reply.proposal.iter_mut().flat_map(|proposal| &mut proposal.calls) {
        call.arguments = structure(&mut call.arguments_json);
    }
    for item in reply.context.iter_mut().flat_map(|context| &mut context.items) {
        item.data = structure(&mut item.data_json);
    }
    reply
}

fn in_structure(result: &mut ToolResult) {
    if let Some(Outcome::DataJson(text)) = &mut result.outcome
        && let Some(data) = structure(text)
    {
        result.outcome = Some(Outcome::Data(data));
    }
}

/// Takes a JSON text as a structure, unless that would round an integer: the text stays then. A value that is not an
/// object becomes its field `value`.
fn structure(text: &mut String) -> Option<Struct> {
    let structure = json::to_exact_struct_of(&serde_json::from_str(text).ok()?)?;
    text.clear();
    Some(structure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolwire_contract::proto::agent::v1::ToolCallStarted;

    #[test]
    fn arguments_are_either_text_or_a_structure() {
        let text = r#"{"n":9007199254740991}"#.to_owned();
        let call = ToolCallStarted { arguments_json: text.clone(), ..Default::default() };
        let event = TurnEvent { event: Some(Event::ToolCallStarted(call)), ..Default::default() };
        let of = |format| match event_in(event.clone(), format).event {
            Some(Event::ToolCallStarted(call)) => (call.arguments.is_some(), call.arguments_json),
            other => panic!("{other:?}"),
        };
        assert_eq!(of(ResultFormat::Json), (false, text));
        assert_eq!(of(ResultFormat::Struct), (true, String::new()));
    }

    #[test]
    fn what_a_structure_would_round_stays_text() {
        let text = r#"{"n":9007199254740993}"#;
        let mut outcome =
            ToolResult { outcome: Some(Outcome::DataJson(text.to_owned())), ..Default::default() };
        in_structure(&mut outcome);
        assert_eq!(outcome.outcome, Some(Outcome::DataJson(text.to_owned())));
    }
}
