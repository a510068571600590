//! The terminal: the only module that prints, and how commands ask, write files and fail. Results go to standard
//! output, everything else to standard error. Not here: the texts of commands.

mod ask;
mod failure;
pub mod files;
mod narrator;

use std::io::{self, ErrorKind, IsTerminal, Write};

pub use ask::{Question, answer, ask};
pub use failure::Failure;
pub use narrator::Narrator;

/// Whether standard output still has a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    Listens,
    /// The reader has seen enough, which is not a failure.
    Gone,
}

/// Prints a result, ended by one line break.
pub fn print(text: &str) -> Result<(), Failure> {
    line(text.strip_suffix('\n').unwrap_or(text)).map(|_| ())
}

/// Prints one of several lines.
pub fn line(text: &str) -> Result<Reader, Failure> {
    let mut stdout = io::stdout().lock();
    into_reader(writeln!(stdout, "{text}").and_then(|()| stdout.flush()))
}

fn into_reader(done: io::Result<()>) -> Result<Reader, Failure> {
    match done {
        Ok(()) => Ok(Reader::Listens),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(error) => Err(Failure::Failed(format!("cannot write to standard output: {error}"))),
    }
}

/// Prints a part of a result as it is.
pub fn bytes(bytes: &[u8]) -> Result<Reader, Failure> {
    let mut stdout = io::stdout().lock();
    into_reader(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

/// Prints a line beside the result. Its reader may be gone.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Prints why a command did not succeed.
pub fn failure(failure: &Failure) {
    if let Some(text) = failure.text() {
        say(&format!("error: {text}"));
    }
}

/// Prints help, the version, or an error of the command line.
pub fn usage(error: &clap::Error) -> Result<(), Failure> {
    let _ = error.print();
    if error.exit_code() == 0 { Ok(()) } else { Err(Failure::ReportedRefusal) }
}

/// Whether a person can be prompted: standard error and standard input are a terminal.
pub fn is_interactive() -> bool {
    is_watched() && io::stdin().is_terminal()
}

/// Whether a person watches standard error.
fn is_watched() -> bool {
    io::stderr().is_terminal()
}
