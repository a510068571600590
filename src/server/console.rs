//! The terminal: the only module that prints, and how commands ask, write files and fail. Results go to standard
//! output, everything else to standard error. Not here: the texts of commands.

mod ask;
mod editor;
mod failure;
pub mod files;
mod narrator;
mod text;

use std::{
    env,
    io::{self, ErrorKind, IsTerminal, Write},
};

use ::console::{Style, Term};
use serde_json::Value;

pub use ask::{Question, answer, ask};
pub use editor::LineEditor;
pub use failure::Failure;
pub use narrator::Narrator;
use text::{visible_json, visible_text};

/// Whether standard output still has a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    Listens,
    /// The reader has seen enough, which is not a failure.
    Gone,
}

/// Prints a text for people, ended by one line break. What could steer the terminal is escaped, like in all that is
/// printed here but [`exact`] and [`bytes`] into a pipe or a file.
pub fn print(text: &str) -> Result<(), Failure> {
    line(without_break(text)).map(|_| ())
}

/// Prints one of several lines.
pub fn line(text: &str) -> Result<Reader, Failure> {
    write(&format!("{}\n", visible_text(text)))
}

/// Prints a line that heads those below it.
pub fn heading(text: &str) -> Result<(), Failure> {
    write(&format!("{}\n", Style::new().bold().apply_to(visible_text(text)))).map(|_| ())
}

/// A part of a line in its look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub text: String,
    pub look: Look,
}

/// How a text looks, where the terminal has looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    #[default]
    Plain,
    Strong,
    Emphasis,
    Code,
    /// Beside what is read first.
    Dim,
}

/// Prints a line of parts, each in its look.
pub fn spans(line: &[Span]) -> Result<Reader, Failure> {
    let styled = |span: &Span| {
        let style = match span.look {
            Look::Plain => Style::new(),
            Look::Strong => Style::new().bold(),
            Look::Emphasis => Style::new().italic(),
            Look::Code => Style::new().cyan(),
            Look::Dim => Style::new().dim(),
        };
        style.apply_to(visible_text(&span.text)).to_string()
    };
    write(&format!("{}\n", line.iter().map(styled).collect::<String>()))
}

/// Whether standard output is a terminal that draws: what is for people may be laid out.
pub fn draws() -> bool {
    is_shown() && env::var_os("TERM").is_some_and(|it| !it.is_empty() && it != "dumb")
}

/// The width of the terminal that shows standard output, in columns.
pub fn width() -> Option<usize> {
    Term::stdout().size_checked().filter(|_| is_shown()).map(|(_, columns)| columns.into())
}

/// Prints a part of a text, which ends no line.
pub fn part(text: &str) -> Result<Reader, Failure> {
    write(&visible_text(text))
}

/// Prints a value as one line of JSON.
pub fn json(value: &Value) -> Result<Reader, Failure> {
    write(&format!("{}\n", visible_json(&value.to_string())))
}

/// Prints each value as one line of JSON, until the reader is gone.
pub fn json_lines(values: impl IntoIterator<Item = Value>) -> Result<(), Failure> {
    for value in values {
        if json(&value)? == Reader::Gone {
            break;
        }
    }
    Ok(())
}

/// Prints a value as JSON, indented.
pub fn json_pretty(value: &Value) -> Result<(), Failure> {
    write(&format!("{}\n", visible_json(&format!("{value:#}")))).map(|_| ())
}

/// Prints a text for a program or a model, ended by one line break.
pub fn exact(text: &str) -> Result<(), Failure> {
    bytes(format!("{}\n", without_break(text)).as_bytes()).map(|_| ())
}

/// Prints bytes as they are. On a terminal they are a text for people.
pub fn bytes(bytes: &[u8]) -> Result<Reader, Failure> {
    if is_shown() {
        return part(&String::from_utf8_lossy(bytes));
    }
    let mut stdout = io::stdout().lock();
    into_reader(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

/// Whether standard output is a terminal.
pub fn is_shown() -> bool {
    io::stdout().is_terminal()
}

fn without_break(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

fn write(text: &str) -> Result<Reader, Failure> {
    let mut stdout = io::stdout().lock();
    into_reader(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
}

fn into_reader(done: io::Result<()>) -> Result<Reader, Failure> {
    match done {
        Ok(()) => Ok(Reader::Listens),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(error) => Err(Failure::Failed(format!("cannot write to standard output: {error}"))),
    }
}

/// Prints a line beside the result. Its reader may be gone.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", emphasise(&visible_text(text)));
}

/// Prints a line beside the result that a reader may pass over.
pub fn remark(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", Style::new().for_stderr().dim().apply_to(visible_text(text)));
}

/// A line whose first word says that something is wrong, or may be, in its colour. As it is where there are no colours:
/// with `NO_COLOR`, and outside a terminal.
fn emphasise(line: &str) -> String {
    let style = Style::new().for_stderr();
    for (word, style) in [("error:", style.clone().red().bold()), ("warning:", style.yellow())] {
        if let Some(rest) = line.strip_prefix(word) {
            return format!("{}{rest}", style.apply_to(word));
        }
    }
    line.to_owned()
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
