//! One stream of a host, from `Hello` to its end: carries messages between the wire, the slot's state machine and the
//! call on it.
//!
//! Backpressure is the stream's own: while the caller of a call reads slowly, or the host does, the host's stream is
//! not read, so that what is held of one slot is a message in each direction and no more.

mod chunk;
mod outgoing;
mod session;

use std::convert::Infallible;

use futures_util::{Stream, StreamExt};
use tokio::{
    pin, select,
    sync::mpsc,
    time::{sleep_until, timeout},
};
use tonic::{Code, Status};

use self::{outgoing::Outgoing, session::Session};
use crate::{
    bounds::HALF_CLOSE,
    end::End,
    hub::Hub,
    pool::Command,
    start::CallEnd,
    wire::{WorkRequest, WorkResponse},
};
use toolwire_base::backlog;
use toolwire_providers::ids::ProviderName;

/// What the stream of answers takes.
pub type Answers = mpsc::Sender<Result<WorkResponse, Status>>;

/// Serves a slot of a provider until its stream ends. The status, if it is not OK, is the last of the answers. Once
/// `ending` is over the slot is asked to leave, for the reason that it returns. What waits for the host counts in
/// `backlog`.
pub async fn work(
    hub: Hub,
    provider: ProviderName,
    incoming: impl Stream<Item = Result<WorkRequest, Status>>,
    ending: impl Future<Output = &'static str>,
    answers: Answers,
    backlog: Option<backlog::Stream>,
) {
    // Its permit counts until the stream has ended.
    let (end, _session) = match hub.admit(&provider) {
        Ok(admitted) => {
            let (sender, mut commands) = mpsc::unbounded_channel();
            let mut session = Session::new(hub, admitted, sender);
            let mut outgoing = Outgoing::new(backlog);
            let Err(end) = run(&mut session, incoming, ending, &answers, &mut commands, &mut outgoing).await;
            // What was not sent yet was not started.
            session.take_back(&outgoing);
            refuse_calls(commands);
            session.close(&end).await;
            (end, Some(session))
        }
        Err(end) => (end, None),
    };
    if let Some(status) = end.status() {
        tracing::debug!(%provider, %end, "a slot has ended");
        let _ = timeout(HALF_CLOSE, answers.send(Err(status))).await;
    }
}

/// Ends the calls that were handed to the slot and did not reach it.
fn refuse_calls(mut commands: mpsc::UnboundedReceiver<Command>) {
    commands.close();
    while let Ok(command) = commands.try_recv() {
        if let Command::Start(start) = command {
            let _ = start.reports.end.send(CallEnd::Unsent);
        }
    }
}

/// Carries messages until the stream ends, and returns why.
async fn run(
    session: &mut Session,
    incoming: impl Stream<Item = Result<WorkRequest, Status>>,
    ending: impl Future<Output = &'static str>,
    answers: &Answers,
    commands: &mut mpsc::UnboundedReceiver<Command>,
    outgoing: &mut Outgoing,
) -> Result<Infallible, End> {
    pin!(incoming, ending);
    let mut is_ending = false;
    let shut_down = session.shut_down();
    // One timer for all messages: it goes off early where a message has moved the next poll.
    let timer = sleep_until(session.next_poll());
    pin!(timer);
    loop {
        let is_reading = !session.has_pending() && outgoing.has_capacity();
        if session.next_poll() < timer.deadline() {
            timer.as_mut().reset(session.next_poll());
        }
        let result = select! {
            permit = answers.reserve(), if !outgoing.is_empty() => send(permit.ok(), outgoing),
            () = answers.closed(), if outgoing.is_empty() => Err(End::Lost),
            () = shut_down.cancelled() => Err(End::ShuttingDown),
            reason = &mut ending, if !is_ending => {
                is_ending = true;
                session.end_connection(reason, outgoing)
            }
            Some(command) = commands.recv() => {
                session.handle(command, outgoing);
                Ok(())
            }
            () = session.hand_over(), if session.has_pending() => {
                session.resume_reading();
                Ok(())
            }
            message = incoming.next(), if is_reading => match message {
                Some(Ok(message)) => session.receive(message, outgoing).await,
                Some(Err(status)) => Err(of_status(&status)),
                None => Err(session.half_close()),
            },
            // A host that takes no answers is silent, too; a caller that reads slowly is not its fault.
            () = &mut timer, if !session.has_pending() => {
                let polled = session.poll(outgoing);
                timer.as_mut().reset(session.next_poll());
                polled
            }
        };
        result?;
    }
}

/// Sends the next message. Without a permit there is no reader any more.
fn send(
    permit: Option<mpsc::Permit<'_, Result<WorkResponse, Status>>>,
    outgoing: &mut Outgoing,
) -> Result<(), End> {
    let permit = permit.ok_or(End::Lost)?;
    if let Some(message) = outgoing.pop() {
        permit.send(Ok(message));
    }
    Ok(())
}

/// How a broken stream of requests ends.
fn of_status(status: &Status) -> End {
    match status.code() {
        Code::OutOfRange | Code::ResourceExhausted => End::MessageTooLarge,
        Code::Internal | Code::InvalidArgument => End::violation("a message that cannot be decoded"),
        _ => End::Lost,
    }
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
