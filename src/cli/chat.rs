//! `toolwire chat`: a conversation at the terminal, or one message of it.

mod markdown;
pub(super) mod show;
mod turn;

use std::io;

use clap::Args;
use tokio::select;

pub(super) use self::turn::show_event;
use self::turn::{End, Turn};
use super::{
    backend::{Backend, into_answer},
    connection::Connection,
    signals::{unless_interrupted, wait_for_interrupt},
};
use toolwire_contract::proto::{
    agent::v1::{
        CancelTurnRequest, Resume, TurnBudget, TurnInput, cancel_turn_request::Which, turn_input::Say,
    },
    v1::{ResultFormat, ToolContext},
};
use toolwire_server::{
    console::{self, Failure, LineEditor},
    domain::Domain,
};
use toolwire_tool::context::{RequestId, SessionId};

/// Lines that end a conversation.
const ENDS: [&str; 3] = ["quit", "exit", "bye"];

/// Answers a question by calling tools, with citations; without MESSAGE, one after the other
///
/// The answer is printed on standard output, everything else on standard error: which tools are called, the sources,
/// and what is asked back. Ctrl-C cancels the turn; at the prompt it ends the conversation. Exit code 0 means an answer
/// or a question, 1 that nothing could be found out, 3 that a person must approve a call first, 130 that the turn was
/// cancelled.
#[derive(Debug, Args)]
pub(super) struct Chat {
    /// What is asked
    #[arg(value_name = "MESSAGE")]
    message: Option<String>,
    /// Goes on with this conversation
    #[arg(long, value_name = "ID")]
    session: Option<SessionId>,
    /// Goes on with a turn that waited for a person
    #[arg(long, value_name = "TURN", conflicts_with_all = ["message", "request_id"])]
    resume: Option<RequestId>,
    /// Cancels a turn that waits for a person, and what it waits for; or one that runs
    #[arg(long, value_name = "TURN", conflicts_with_all = ["message", "request_id", "resume"])]
    cancel: Option<RequestId>,
    /// Recognises a repeat of the same message: its name as a turn
    #[arg(long, value_name = "UUID", requires = "message")]
    request_id: Option<RequestId>,
    /// The account, where the message names none
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// Offers only tools with this tag; with several, with all of them
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Maximum number of calls per turn
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    max_calls: Option<u32>,
    /// Prints every event as one line of JSON, and a failure as the last one
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: Connection,
}

impl Chat {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let backend = self.connection.open_with_state(domains).await?;
        let session = self.session.as_ref().map_or_else(new_session, ToString::to_string);
        let done = match (&self.message, self.resume, self.cancel) {
            (Some(message), ..) => self.once(&backend, &session, Say::Message(message.clone())).await,
            (None, Some(turn_id), _) => {
                let turn_id = turn_id.to_string();
                self.once(&backend, &session, Say::Resume(Resume { turn_id })).await
            }
            (None, None, Some(turn_id)) => cancel(&backend, &turn_id.to_string()).await,
            (None, None, None) => self.converse(&backend, &session).await,
        };
        unless_interrupted(backend.settle()).await?;
        done
    }

    /// Sends one message, and prints how to continue the conversation.
    async fn once(&self, backend: &Backend, session: &str, say: Say) -> Result<(), Failure> {
        let end = self.turn(backend, session, say).await?;
        if matches!(end, End::Answered | End::Failed) && self.resume.is_none() {
            self.say_session(session);
        }
        match end {
            End::Answered => Ok(()),
            End::Failed => Err(Failure::Reported),
            End::Undecided => Err(Failure::AwaitsConfirmation),
            End::Cancelled => Err(Failure::Interrupted),
            End::Interrupted { turn_id, paused } => {
                console::say("");
                for line in show::waiting(&turn_id, &paused, &self.connection.to_flags()) {
                    console::say(&line);
                }
                Err(Failure::Interrupted)
            }
        }
    }

    /// Sends one message after the other, until the input ends.
    async fn converse(&self, backend: &Backend, session: &str) -> Result<(), Failure> {
        if console::is_interactive() {
            console::say("Ask something. Ctrl-C cancels a turn, Ctrl-D or `quit` ends the conversation.");
        }
        let mut editor = LineEditor::on_terminal();
        while let Some(message) = select! {
            message = next_message(&mut editor) => message.map_err(unreadable)?,
            () = wait_for_interrupt() => None,
        } {
            let text = message.trim();
            let word = text.strip_prefix('/').unwrap_or(text);
            if ENDS.iter().any(|end| word.eq_ignore_ascii_case(end)) {
                break;
            }
            if text.is_empty() {
                continue;
            }
            match self.turn(backend, session, Say::Message(message)).await {
                Ok(End::Interrupted { turn_id, .. }) => {
                    console::say("");
                    if let Err(failure) = cancel(backend, &turn_id).await {
                        console::failure(&failure);
                    }
                }
                Ok(End::Answered | End::Failed | End::Undecided | End::Cancelled) => {}
                // The failure of one message does not end the conversation.
                Err(failure) => console::failure(&failure),
            }
        }
        self.say_session(session);
        Ok(())
    }

    /// Prints the name by which the conversation can be continued, if it was generated.
    fn say_session(&self, session: &str) {
        if !self.json && self.session.is_none() {
            let flags = self.connection.to_flags();
            console::say(&format!("\nTo go on: toolwire chat --session {session}{flags} \"...\""));
        }
    }

    /// Carries a turn out, and resumes it after each decision of the person at the terminal.
    async fn turn(&self, backend: &Backend, session: &str, say: Say) -> Result<End, Failure> {
        let mut input = self.input(session, say);
        loop {
            let turn = Turn { backend, json: self.json, connection: &self.connection };
            match turn.carry_out(input).await? {
                Ok(end) => return Ok(end),
                Err(turn_id) => input = self.input(session, Say::Resume(Resume { turn_id })),
            }
        }
    }

    fn input(&self, session: &str, say: Say) -> TurnInput {
        let format = if self.json { ResultFormat::Struct } else { ResultFormat::Json };
        let named = self.request_id.filter(|_| matches!(say, Say::Message(_)));
        TurnInput {
            say: Some(say),
            context: Some(ToolContext { session_id: session.to_owned(), ..ToolContext::default() }),
            account: self.account.clone().unwrap_or_default(),
            request_id: named.map(|id| id.to_string()).unwrap_or_default(),
            tags: self.tags.clone(),
            budget: self.max_calls.map(|max_calls| TurnBudget { max_calls, ..TurnBudget::default() }),
            result_format: format.into(),
        }
    }
}

/// Cancels a turn, with what it waits for.
async fn cancel(backend: &Backend, turn_id: &str) -> Result<(), Failure> {
    let request = CancelTurnRequest { which: Some(Which::TurnId(turn_id.to_owned())) };
    if into_answer(backend.agent().cancel_turn(request)).await?.cancelled {
        console::say("cancelled");
        Ok(())
    } else {
        Err(Failure::Failed(format!("the turn {turn_id} has ended: there is nothing to cancel")))
    }
}

async fn next_message(editor: &mut LineEditor) -> io::Result<Option<String>> {
    console::say("");
    editor.line("> ").await
}

fn new_session() -> String {
    RequestId::generate().to_string()
}

#[allow(clippy::needless_pass_by_value, reason = "the form map_err asks for")]
fn unreadable(error: io::Error) -> Failure {
    Failure::Failed(format!("cannot read the message: {error}"))
}
