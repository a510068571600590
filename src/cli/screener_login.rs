//! `toolwire screener-login`: gives a server the user's own Screener.in credentials.
//!
//! They are never taken from the command line, where other programs could read them, and nothing of them is printed.

use std::io::{self, BufRead, IsTerminal};

use clap::Args;
use console::Term;
use tonic::{Request, metadata::AsciiMetadataValue};

use super::{connection::Connection, explain, failure::Failure, output};
use crate::domains::research::proto::v1::SetScreenerCredentialsRequest;

/// Gives a server the user's Screener.in credentials
///
/// User name and password are asked for on the terminal, or read as two lines of standard input. The server keeps them in
/// memory only, for this user and session.
#[derive(Debug, Args)]
pub(super) struct ScreenerLogin {
    /// The session whose calls may use them; without it, calls without a session
    #[arg(long, value_name = "SESSION")]
    session: Option<AsciiMetadataValue>,
    #[command(flatten)]
    connection: Connection,
}

impl ScreenerLogin {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let remote = self.connection.remote().await?;
        // Asks a person, and must not hold up the connection meanwhile.
        let read = tokio::task::spawn_blocking(credentials).await;
        let message =
            read.map_err(|error| Failure::Failed(error.to_string()))?.map_err(|error| unread(&error))?;
        let mut request: Request<_> = remote.request(message);
        if let Some(session) = self.session {
            request.metadata_mut().insert("x-toolwire-session-id", session);
        }
        let done = remote.research().set_screener_credentials(request).await;
        done.map_err(|status| explain::failure(&status))?;
        output::say(
            "The server keeps the credentials until it ends. They are checked when a screen is scraped.",
        );
        Ok(())
    }
}

fn credentials() -> io::Result<SetScreenerCredentialsRequest> {
    if io::stdin().is_terminal() { asked(&Term::stderr()) } else { of_lines(io::stdin().lock()) }
}

fn asked(terminal: &Term) -> io::Result<SetScreenerCredentialsRequest> {
    terminal.write_str("Screener.in user name: ")?;
    let username = terminal.read_line()?;
    terminal.write_str("Password (not shown): ")?;
    let password = terminal.read_secure_line()?;
    Ok(SetScreenerCredentialsRequest { username, password })
}

fn of_lines(input: impl BufRead) -> io::Result<SetScreenerCredentialsRequest> {
    let mut lines = input.lines();
    let mut line = || lines.next().unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()));
    Ok(SetScreenerCredentialsRequest { username: line()?, password: line()? })
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
    fn two_lines_are_user_name_and_password_as_they_stand() {
        let read = of_lines("riley@example.com\n pass word \n".as_bytes()).unwrap();
        assert_eq!((read.username.as_str(), read.password.as_str()), ("riley@example.com", " pass word "));
    }

    #[test]
    fn one_line_is_not_enough() {
        let failure = unread(&of_lines("riley@example.com\n".as_bytes()).unwrap_err());
        assert!(matches!(&failure, Failure::Usage(text) if text.contains("two lines")), "{failure}");
    }
}
