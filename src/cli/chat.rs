//! `toolwire chat`: a conversation at the terminal, or one message of it.

mod show;
mod turn;

use std::io::ErrorKind;

use clap::Args;
use tokio::{select, signal, task::spawn_blocking};

use self::turn::{End, Turn};
use super::{backend::Backend, connection::Connection};
use crate::{
    console::{self, Failure, Question},
    context::{RequestId, SessionId},
    contract::proto::{
        agent::v1::{Resume, TurnBudget, TurnInput, turn_input::Say},
        v1::{ResultFormat, ToolContext},
    },
    domain::Domain,
};

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
    #[arg(long, value_name = "TURN", conflicts_with = "message")]
    resume: Option<RequestId>,
    /// The account that is meant where the message names none
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// Offers only tools with this tag; with several, with all of them
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Makes at most so many calls a turn
    #[arg(long, value_name = "N")]
    max_calls: Option<u32>,
    /// Prints every event as one line of JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: Connection,
}

impl Chat {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let backend = self.connection.open(domains).await?;
        backend.open_state().await?;
        let session = self.session.as_ref().map_or_else(new_session, ToString::to_string);
        let done = match (&self.message, self.resume) {
            (Some(message), _) => self.once(&backend, &session, Say::Message(message.clone())).await,
            (None, Some(turn_id)) => {
                let turn_id = turn_id.to_string();
                self.once(&backend, &session, Say::Resume(Resume { turn_id })).await
            }
            (None, None) => self.converse(&backend, &session).await,
        };
        backend.settle().await;
        done
    }

    /// One message: the conversation can be gone on with by its name.
    async fn once(&self, backend: &Backend, session: &str, say: Say) -> Result<(), Failure> {
        let end = select! {
            end = self.turn(backend, session, say) => end?,
            // The stream is dropped, and with it the turn.
            _ = signal::ctrl_c() => return Err(Failure::Interrupted),
        };
        if !self.json && self.session.is_none() && self.resume.is_none() {
            let flags = self.connection.shown();
            console::say(&format!("\nTo go on: toolwire chat --session {session}{flags} \"...\""));
        }
        match end {
            End::Answered => Ok(()),
            End::Failed => Err(Failure::Said),
            End::Undecided => Err(Failure::AwaitsConfirmation),
        }
    }

    /// One message after the other, until there are no more.
    async fn converse(&self, backend: &Backend, session: &str) -> Result<(), Failure> {
        if console::is_interactive() {
            console::say("Ask something. Ctrl-C cancels a turn, Ctrl-D ends the conversation.");
        }
        while let Some(message) = select! {
            message = next_message() => message?,
            _ = signal::ctrl_c() => None,
        } {
            if message.trim().is_empty() {
                continue;
            }
            select! {
                end = self.turn(backend, session, Say::Message(message)) => match end {
                    Ok(_) => {}
                    // What is wrong with one message is not wrong with the next.
                    Err(failure) => console::failure(&failure),
                },
                _ = signal::ctrl_c() => console::say("\ncancelled"),
            }
        }
        Ok(())
    }

    /// Carries a turn out, and goes on with it while the person at the terminal decides.
    async fn turn(&self, backend: &Backend, session: &str, say: Say) -> Result<End, Failure> {
        let mut input = self.input(session, say);
        loop {
            let turn = Turn { backend, json: self.json, flags: self.connection.shown() };
            match turn.carry_out(input).await? {
                Ok(end) => return Ok(end),
                Err(turn_id) => input = self.input(session, Say::Resume(Resume { turn_id })),
            }
        }
    }

    fn input(&self, session: &str, say: Say) -> TurnInput {
        let format = if self.json { ResultFormat::Struct } else { ResultFormat::Json };
        TurnInput {
            say: Some(say),
            context: Some(ToolContext { session_id: session.to_owned(), ..ToolContext::default() }),
            account: self.account.clone().unwrap_or_default(),
            request_id: String::new(),
            tags: self.tags.clone(),
            budget: self.max_calls.map(|max_calls| TurnBudget { max_calls, ..TurnBudget::default() }),
            result_format: format.into(),
        }
    }
}

fn new_session() -> String {
    RequestId::generate().to_string()
}

/// The next line; `None` at the end of the input.
async fn next_message() -> Result<Option<String>, Failure> {
    let asked = spawn_blocking(|| console::ask([Question::Open("\n> ")])).await;
    match asked.map_err(|error| Failure::Failed(error.to_string()))? {
        Ok([message]) => Ok(Some(message)),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(Failure::Failed(format!("cannot read the message: {error}"))),
    }
}
