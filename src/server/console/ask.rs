//! Prompts for values that must not be on a command line: on the terminal, or else as lines of standard input.

use std::io::{self, BufRead, ErrorKind, IsTerminal};

use console::Term;
use tokio::{
    sync::Mutex,
    task::{JoinHandle, spawn_blocking},
};

use toolwire_base::words::without_bom;

/// A line that is being read.
type Reading = JoinHandle<io::Result<String>>;

/// The read that continues after its waiter has left: a read of standard input cannot be cancelled.
static LEFT: Mutex<Option<Reading>> = Mutex::const_new(None);

/// A prompt on the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// With echo.
    Open(&'static str),
    /// Without echo.
    Secret(&'static str),
}

/// Asks the questions in turn. Blocks until they are given; without a terminal each is a line of
/// standard input, and a line that is missing is `UnexpectedEof`.
pub fn ask<const N: usize>(questions: [Question; N]) -> io::Result<[String; N]> {
    if io::stdin().is_terminal() { prompt_all(&Term::stderr(), questions) } else { lines(io::stdin().lock()) }
}

/// The next line of standard input after a visible prompt; `None` at its end. A waiter that leaves takes no line away
/// from the next question.
pub async fn answer(prompt: &str) -> io::Result<Option<String>> {
    let is_terminal = io::stdin().is_terminal();
    let mut left = LEFT.lock().await;
    if is_terminal {
        Term::stderr().write_str(prompt)?;
        forget_typed()?;
        // A line that arrived in between is no answer either.
        left.take_if(|reading| reading.is_finished());
    }
    next(&mut left, || lines(io::stdin().lock()).map(|[line]| line)).await
}

async fn next(
    left: &mut Option<Reading>,
    read: impl FnOnce() -> io::Result<String> + Send + 'static,
) -> io::Result<Option<String>> {
    let line = left.get_or_insert_with(|| spawn_blocking(read)).await;
    *left = None;
    match line.map_err(io::Error::other)? {
        Ok(line) => Ok(Some(line)),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

fn prompt_all<const N: usize>(terminal: &Term, questions: [Question; N]) -> io::Result<[String; N]> {
    let mut answers = std::array::from_fn(|_| String::new());
    for (answer, question) in answers.iter_mut().zip(questions) {
        *answer = match question {
            Question::Open(prompt) => {
                terminal.write_str(prompt)?;
                forget_typed()?;
                let [line] = lines(io::stdin().lock())?;
                line
            }
            Question::Secret(prompt) => {
                terminal.write_str(prompt).and_then(|()| terminal.read_secure_line())?
            }
        };
    }
    Ok(answers)
}

/// Discards what was typed before the prompt: it cannot be an answer to it.
pub(super) fn forget_typed() -> io::Result<()> {
    #[cfg(unix)]
    rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush)?;
    Ok(())
}

fn lines<const N: usize>(input: impl BufRead) -> io::Result<[String; N]> {
    let mut lines = input.lines();
    let mut answers = std::array::from_fn(|_| String::new());
    for answer in &mut answers {
        let line = lines.next().unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()))?;
        without_bom(&line).clone_into(answer);
    }
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn lines_are_answers_as_they_stand() {
        assert_eq!(lines("riley\n pass word \nmore\n".as_bytes()).unwrap(), ["riley", " pass word "]);
        assert_eq!(lines("\u{feff}y\n".as_bytes()).unwrap(), ["y"]);
    }

    #[tokio::test]
    async fn a_line_that_nobody_waits_for_any_more_is_the_next_answer() {
        let (keyboard, typed) = std::sync::mpsc::channel::<&str>();
        let mut left = None;
        let given_up = next(&mut left, move || Ok(typed.recv().unwrap().to_owned())).now_or_never();
        assert!(given_up.is_none() && left.is_some());
        keyboard.send("y").unwrap();
        let answer = next(&mut left, || unreachable!("a second read would wait for a second line")).await;
        assert_eq!(answer.unwrap().as_deref(), Some("y"));
        let over = next(&mut left, || lines("".as_bytes()).map(|[line]| line)).await;
        assert_eq!(over.unwrap(), None);
    }

    #[test]
    fn a_missing_line_is_an_unexpected_end() {
        let error = lines::<2>("riley\n".as_bytes()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
