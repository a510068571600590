//! `toolwire screener-login`: gives a server the user's own Screener.in credentials.
//!
//! They are never taken from the command line, where other programs could read them, and nothing of them is printed.

use std::io;

use clap::Args;
use tonic::{Request, metadata::AsciiMetadataValue};

use crate::proto::v1::{SetScreenerCredentialsRequest, research_service_client::ResearchServiceClient};
use toolwire_server::{
    client::{self, Server},
    console::{self, Failure, Question},
};

/// Gives a server the user's Screener.in credentials
///
/// User name and password are asked for on the terminal, or read as two lines of standard input. The server keeps them
/// in memory only, for this user and session.
#[derive(Debug, Args)]
pub(super) struct ScreenerLogin {
    /// The session whose calls may use them; without it, calls without a session
    #[arg(long, value_name = "SESSION")]
    session: Option<AsciiMetadataValue>,
}

pub(super) async fn run(login: ScreenerLogin, server: Server) -> Result<(), Failure> {
    // Asks a person, and must not hold up the connection meanwhile.
    let read = tokio::task::spawn_blocking(credentials).await;
    let message =
        read.map_err(|error| Failure::Failed(error.to_string()))?.map_err(|error| unread(&error))?;
    let mut request = Request::new(message);
    if let Some(session) = login.session {
        request.metadata_mut().insert("x-toolwire-session-id", session);
    }
    let done = ResearchServiceClient::new(server).set_screener_credentials(request).await;
    done.map_err(|status| client::refusal(&status))?;
    console::say(
        "The server keeps the credentials until it ends. They are checked when a screen is scraped.",
    );
    Ok(())
}

fn credentials() -> io::Result<SetScreenerCredentialsRequest> {
    let questions = [Question::Open("Screener.in user name: "), Question::Secret("Password (not shown): ")];
    let [username, password] = console::ask(questions)?;
    Ok(SetScreenerCredentialsRequest { username, password })
}

fn unread(error: &io::Error) -> Failure {
    Failure::Usage(match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            "standard input must hold two lines: user name and password".to_owned()
        }
        _ => format!("cannot read user name and password: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_is_not_enough() {
        let failure = unread(&io::ErrorKind::UnexpectedEof.into());
        assert!(matches!(&failure, Failure::Usage(text) if text.contains("two lines")), "{failure}");
    }
}
