//! Following a call: its events as they come, then its end.

use futures_util::StreamExt;

use super::{format::Format, render};
use crate::{
    backend::Events,
    explain::{self, Invoked},
    json,
};
use toolwire_contract::proto::v1::{self, call_event::Event, tool_result::Outcome};
use toolwire_engine::model::FAILED;
use toolwire_server::{
    client,
    console::{self, Failure, Narrator},
};

/// Shows a call from its first event to its end.
pub(super) async fn follow(events: Events, format: Format, called: Invoked<'_>) -> Result<End, Failure> {
    match format {
        Format::Json => as_lines(events).await,
        Format::Text | Format::Model => match narrate(events).await? {
            LastEvent::Result(result) => finish(&result, called).map(|()| End::Done),
            LastEvent::ConfirmationRequired(it) => Ok(End::ConfirmationRequired(it)),
        },
    }
}

/// The end of a call that did not fail.
#[derive(Debug)]
pub(super) enum End {
    /// With data.
    Done,
    /// A person must approve it first.
    ConfirmationRequired(Box<v1::ConfirmationRequired>),
}

/// The last event of a call.
#[derive(Debug)]
enum LastEvent {
    Result(Box<v1::ToolResult>),
    ConfirmationRequired(Box<v1::ConfirmationRequired>),
}

/// For programs: every event as one line of JSON.
async fn as_lines(mut events: Events) -> Result<End, Failure> {
    while let Some(event) = events.next().await {
        let event = event.map_err(|status| client::refusal(&status))?;
        console::json(&json::event(&event))?;
        match event.event {
            Some(Event::Result(result)) => return is_success(&result).map(|()| End::Done),
            Some(Event::ConfirmationRequired(it)) => return Ok(End::ConfirmationRequired(Box::new(it))),
            _ => {}
        }
    }
    Err(cut_off())
}

/// For people: the events in words. The bar is gone when this returns.
async fn narrate(mut events: Events) -> Result<LastEvent, Failure> {
    let narrator = Narrator::on_terminal();
    while let Some(event) = events.next().await {
        let v1::CallEvent { call_id, event, .. } = match event {
            Ok(event) => event,
            Err(status) => {
                drop(narrator);
                return Err(client::refusal(&status));
            }
        };
        match event {
            Some(Event::Result(result)) => return Ok(LastEvent::Result(Box::new(result))),
            Some(Event::ConfirmationRequired(it)) => {
                return Ok(LastEvent::ConfirmationRequired(Box::new(it)));
            }
            Some(Event::Accepted(it)) => {
                narrator.progress(None, &it.tool, &render::render_accepted(&call_id, &it));
            }
            Some(Event::Progress(it)) => narrator.progress(it.fraction, &it.message, &render::progress(&it)),
            Some(Event::Chunk(it)) => narrator.tell(&render::chunk(it)),
            Some(Event::AwaitingConfirmation(it)) => narrator.tell(&render::awaiting(&it)),
            // An event of a newer contract.
            None => {}
        }
    }
    Err(cut_off())
}

fn finish(result: &v1::ToolResult, called: Invoked<'_>) -> Result<(), Failure> {
    // By intent, only the result knows the tool.
    let called = if result.tool.is_empty() { called } else { Invoked { tool: &result.tool, ..called } };
    if let Some(Outcome::Error(error)) = &result.outcome {
        console::say(&explain::tool_error(error, &called));
        return Err(Failure::Reported);
    }
    if let Some(Outcome::DataText(text)) = &result.outcome {
        console::exact(text)?;
        return is_success(result);
    }
    for line in result.provenance.iter().flat_map(render::provenance) {
        console::say(&line);
    }
    let frame = result.provenance.as_ref().and_then(render::frame);
    // Standard output has the data alone. Text from outside ends within its JSON; the lines tell a reader of both streams.
    if let Some((begin, _)) = &frame {
        console::say(begin);
    }
    console::json_pretty(&render::data(result.outcome.as_ref()))?;
    if let Some((_, end)) = &frame {
        console::say(end);
    }
    Ok(())
}

fn is_success(result: &v1::ToolResult) -> Result<(), Failure> {
    match &result.outcome {
        Some(Outcome::Error(_)) | None => Err(Failure::Reported),
        Some(Outcome::DataText(text)) if text.starts_with(FAILED) => Err(Failure::Reported),
        Some(Outcome::Data(_) | Outcome::DataJson(_) | Outcome::DataText(_)) => Ok(()),
    }
}

fn cut_off() -> Failure {
    Failure::Failed("the stream ended without a result; call again".to_owned())
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use tonic::Status;

    use super::*;

    const CALLED: Invoked<'static> = Invoked { tool: "t", request_id: None, task: None };

    #[allow(clippy::unnecessary_wraps, reason = "what a stream yields")]
    fn event(event: Event) -> Result<v1::CallEvent, Status> {
        Ok(v1::CallEvent { call_id: "c".to_owned(), event: Some(event), ..Default::default() })
    }

    fn result(outcome: Outcome) -> Event {
        Event::Result(v1::ToolResult { outcome: Some(outcome), ..Default::default() })
    }

    async fn code(events: Vec<Result<v1::CallEvent, Status>>, format: Format) -> u8 {
        follow(stream::iter(events).boxed(), format, CALLED)
            .await
            .map_or_else(|failure| failure.code(), |end| if matches!(end, End::Done) { 0 } else { 3 })
    }

    #[tokio::test]
    async fn the_exit_code_tells_data_from_an_error() {
        for format in [Format::Text, Format::Json] {
            let data = event(result(Outcome::DataJson("{}".to_owned())));
            assert_eq!(code(vec![event(Event::Accepted(v1::Accepted::default())), data], format).await, 0);
            assert_eq!(code(vec![event(result(Outcome::Error(v1::ToolError::default())))], format).await, 1);
            let awaited = Event::ConfirmationRequired(v1::ConfirmationRequired::default());
            assert_eq!(code(vec![event(awaited)], format).await, 3);
            assert_eq!(code(vec![Err(Status::deadline_exceeded("late"))], format).await, 1);
        }
    }

    #[tokio::test]
    async fn a_stream_without_an_end_is_a_failure() {
        let progress = || event(Event::Progress(v1::Progress::default()));
        assert_eq!(code(vec![progress()], Format::Text).await, 1);
        assert_eq!(code(vec![progress()], Format::Json).await, 1);
    }
}
