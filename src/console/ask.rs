//! Asking for what must not stand on a command line: on the terminal, or else as lines of standard input.

use std::io::{self, BufRead, IsTerminal};

use console::Term;

/// A question, by what the terminal shows before the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// What is typed is shown.
    Open(&'static str),
    /// What is typed is not shown.
    Secret(&'static str),
}

/// The answers as they stand, one a question. Blocks until they are given; without a terminal each is a line of
/// standard input, and a line that is missing is `UnexpectedEof`.
pub fn ask<const N: usize>(questions: [Question; N]) -> io::Result<[String; N]> {
    if io::stdin().is_terminal() { asked(&Term::stderr(), questions) } else { lines(io::stdin().lock()) }
}

fn asked<const N: usize>(terminal: &Term, questions: [Question; N]) -> io::Result<[String; N]> {
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

/// Forgets what was typed before there was anything to answer: nobody said yes to what they had not seen.
fn forget_typed() -> io::Result<()> {
    #[cfg(unix)]
    rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush)?;
    Ok(())
}

fn lines<const N: usize>(input: impl BufRead) -> io::Result<[String; N]> {
    let mut lines = input.lines();
    let mut answers = std::array::from_fn(|_| String::new());
    for answer in &mut answers {
        *answer = lines.next().unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()))?;
    }
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_answers_as_they_stand() {
        assert_eq!(lines("riley\n pass word \nmore\n".as_bytes()).unwrap(), ["riley", " pass word "]);
    }

    #[test]
    fn a_missing_line_is_an_unexpected_end() {
        let error = lines::<2>("riley\n".as_bytes()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
