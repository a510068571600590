//! Lines that a person edits at the terminal: arrows, history, wide characters. Elsewhere they are lines of standard
//! input.

use std::{
    env, fmt,
    io::{self, IsTerminal},
};

use rustyline::{Config, Editor, error::ReadlineError, history::MemHistory};
use tokio::task::spawn_blocking;

use super::ask::{answer, forget_typed};

/// Reads the messages of a conversation. Its history lasts as long as it does.
pub struct LineEditor(Option<Terminal>);

/// The editor of a terminal that can move its cursor.
type Terminal = Editor<(), MemHistory>;

impl LineEditor {
    /// Edits lines where standard input and output are a terminal that can move its cursor.
    pub fn on_terminal() -> Self {
        let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        let can_move = env::var_os("TERM").is_some_and(|it| !it.is_empty() && it != "dumb");
        let config = Config::builder().auto_add_history(true).build();
        Self(
            (is_terminal && can_move).then(|| Editor::with_history(config, MemHistory::new()).ok()).flatten(),
        )
    }

    /// The next line after a prompt; `None` at its end, which is Ctrl-D or Ctrl-C.
    pub async fn line(&mut self, prompt: &'static str) -> io::Result<Option<String>> {
        let Some(mut editor) = self.0.take() else { return answer(prompt).await };
        forget_typed()?;
        let (editor, line) = spawn_blocking(move || {
            let line = editor.readline(prompt);
            (editor, line)
        })
        .await
        .map_err(io::Error::other)?;
        self.0 = Some(editor);
        match line {
            Ok(line) => Ok(Some(line)),
            // Its handler of SIGINT stands in for ours while it reads.
            Err(ReadlineError::Eof | ReadlineError::Interrupted | ReadlineError::Signal(_)) => Ok(None),
            Err(ReadlineError::Io(error)) => Err(error),
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

impl fmt::Debug for LineEditor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LineEditor").finish_non_exhaustive()
    }
}
