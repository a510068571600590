//! What people see: the only module that prints. Results go to standard output, everything else to standard error.

mod narrator;

use std::io::{self, ErrorKind, IsTerminal, Write};

use super::failure::Failure;

pub(super) use narrator::Narrator;

/// Prints a result, ended by one line break. A reader that has seen enough is no failure.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let ended = text.strip_suffix('\n').unwrap_or(text);
    match writeln!(stdout, "{ended}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Failed(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Says something beside the result. Nobody may be listening.
pub(super) fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Says why the command did not succeed.
pub(super) fn failure(failure: &Failure) {
    if let Some(text) = failure.text() {
        say(&format!("error: {text}"));
    }
}

/// Shows help, the version, or what is wrong with the command line.
pub(super) fn usage(error: &clap::Error) -> Result<(), Failure> {
    let _ = error.print();
    if error.exit_code() == 0 { Ok(()) } else { Err(Failure::SaidRefused) }
}

/// Whether a person watches standard error.
fn is_watched() -> bool {
    io::stderr().is_terminal()
}
