//! Following a call: its events as they come, then its end.

use tonic::Code;

use super::{
    format::Format,
    render,
    running_call::{Next, RunningCall},
};
use crate::{
    explain::{self, Invoked},
    json,
};
use toolwire_contract::proto::v1::{self, ToolErrorCode, call_event::Event, tool_result::Outcome};
use toolwire_engine::model::FAILED;
use toolwire_server::{
    client,
    console::{self, Failure, Narrator},
};

/// The end of a call that did not fail.
#[derive(Debug)]
pub(super) enum End {
    /// With data.
    Done,
    /// A person must approve it first.
    ConfirmationRequired(Box<v1::ConfirmationRequired>),
    /// The same, and the user did not wait for it.
    LeftUndecided(Box<v1::ConfirmationRequired>),
}

/// The last event of a call.
#[derive(Debug)]
enum LastEvent {
    Result(Box<v1::ToolResult>),
    ConfirmationRequired(Box<v1::ConfirmationRequired>),
    /// None: the user left.
    Left,
    /// None: its deadline passed.
    TimedOut,
}

/// Shows a call from its first event to its end. One that was interrupted says how it ended.
pub(super) async fn follow(
    mut call: RunningCall<'_>,
    format: Format,
    called: Invoked<'_>,
) -> Result<End, Failure> {
    let last = match format {
        Format::Json => as_lines(&mut call).await,
        Format::Text | Format::Model => narrate(&mut call).await,
    };
    let end = match last {
        Ok(LastEvent::Result(result)) => finish(&result, format, &call, called).map(|()| End::Done),
        Ok(LastEvent::ConfirmationRequired(it)) => Ok(End::ConfirmationRequired(it)),
        Ok(LastEvent::Left) => match call.take_awaited() {
            Some(it) => return Ok(End::LeftUndecided(it)),
            None => Err(Failure::Failed(explain::report_left(call.call_id(), &called))),
        },
        Ok(LastEvent::TimedOut) => Err(Failure::Failed(explain::timed_out(call.call_id(), &called))),
        Err(failure) => Err(failure),
    };
    if !call.is_interrupted() {
        return end;
    }
    if let Err(failure) = &end {
        console::failure(failure);
    }
    Err(Failure::Interrupted)
}

/// For programs: every event as one line of JSON.
async fn as_lines(call: &mut RunningCall<'_>) -> Result<LastEvent, Failure> {
    loop {
        let event = match call.next().await {
            Next::Event(event) => event,
            Next::Cancelling => {
                console::say(render::CANCELLING);
                continue;
            }
            other => {
                if let Next::Status(status) = &other {
                    render::refused_line(call.call_id(), status)?;
                }
                return without_end(&other);
            }
        };
        console::json(&json::event(&event))?;
        match event.event {
            Some(Event::Result(result)) => return Ok(LastEvent::Result(Box::new(result))),
            Some(Event::ConfirmationRequired(it)) => {
                return Ok(LastEvent::ConfirmationRequired(Box::new(it)));
            }
            _ => {}
        }
    }
}

/// For people: the events in words. The bar is gone when this returns.
async fn narrate(call: &mut RunningCall<'_>) -> Result<LastEvent, Failure> {
    let narrator = Narrator::on_terminal();
    loop {
        let event = match call.next().await {
            Next::Event(event) => event.event,
            Next::Cancelling => {
                narrator.tell(render::CANCELLING);
                continue;
            }
            other => {
                drop(narrator);
                return without_end(&other);
            }
        };
        match event {
            Some(Event::Result(result)) => return Ok(LastEvent::Result(Box::new(result))),
            Some(Event::ConfirmationRequired(it)) => {
                return Ok(LastEvent::ConfirmationRequired(Box::new(it)));
            }
            Some(Event::Accepted(it)) => narrator.tell(&render::render_accepted(call.call_id(), &it)),
            Some(Event::Progress(it)) => narrator.progress(it.fraction, &it.message, &render::progress(&it)),
            Some(Event::Chunk(it)) => narrator.tell(&render::chunk(it)),
            Some(Event::AwaitingConfirmation(it)) => narrator.tell(&render::awaiting(&it)),
            // An event of a newer contract.
            None => {}
        }
    }
}

fn without_end(next: &Next) -> Result<LastEvent, Failure> {
    match next {
        Next::Left => Ok(LastEvent::Left),
        Next::Status(status) if status.code() == Code::DeadlineExceeded => Ok(LastEvent::TimedOut),
        Next::Status(status) => Err(client::refusal(status)),
        _ => Err(Failure::Failed("the stream ended without a result; call again".to_owned())),
    }
}

fn finish(
    result: &v1::ToolResult,
    format: Format,
    call: &RunningCall<'_>,
    called: Invoked<'_>,
) -> Result<(), Failure> {
    // By intent, only the result knows the tool.
    let called = if result.tool.is_empty() { called } else { Invoked { tool: &result.tool, ..called } };
    match &result.outcome {
        Some(Outcome::Error(error)) if call.is_interrupted() && error.code() == ToolErrorCode::Cancelled => {
            console::say(&format!("cancelled {}, call {}", called.tool, call.call_id()));
            Err(Failure::Reported)
        }
        _ if format == Format::Json => is_success(result),
        Some(Outcome::Error(error)) => {
            console::say(&explain::tool_error(error, &called));
            Err(Failure::Reported)
        }
        Some(Outcome::DataText(text)) => {
            console::exact(text)?;
            is_success(result)
        }
        _ => {
            if call.is_interrupted() {
                console::say("not cancelled: it had begun, and was carried out to its end");
            }
            show(result)
        }
    }
}

/// Prints the data of a result, and beside it where the data comes from.
fn show(result: &v1::ToolResult) -> Result<(), Failure> {
    for line in result.provenance.iter().flat_map(render::provenance) {
        console::say(&line);
    }
    let frame = result.provenance.as_ref().and_then(render::frame);
    // Standard output has the data alone: its JSON says where a text ends. The lines are for a reader of both streams.
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

#[cfg(test)]
mod tests {
    use futures_util::{StreamExt, stream};
    use tonic::Status;

    use super::*;
    use crate::signals::Interrupts;

    const CALLED: Invoked<'static> = Invoked { tool: "t", request_id: None, task: None, is_read: true };

    #[allow(clippy::unnecessary_wraps, reason = "what a stream yields")]
    fn event(event: Event) -> Result<v1::CallEvent, Status> {
        Ok(v1::CallEvent { call_id: "c".to_owned(), event: Some(event), ..Default::default() })
    }

    fn result(outcome: Outcome) -> Event {
        Event::Result(v1::ToolResult { outcome: Some(outcome), ..Default::default() })
    }

    async fn code(events: Vec<Result<v1::CallEvent, Status>>, format: Format) -> u8 {
        let mut interrupts = Interrupts::listen();
        let call = RunningCall::new(stream::iter(events).boxed(), None, &mut interrupts);
        follow(call, format, CALLED)
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
