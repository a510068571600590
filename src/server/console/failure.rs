//! Failures of commands, and their exit codes.

/// Why a command did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line asks for something that makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The configuration, the definitions or the data are wrong: the service would not start. A problem a line.
    #[error("{0}")]
    Start(String),
    #[error("{0}")]
    Failed(String),
    /// The tool or the command failed, and has said so.
    #[error("failed")]
    Said,
    /// A person must approve the call first, and the command has said so.
    #[error("awaits confirmation")]
    AwaitsConfirmation,
    /// The service would not start, and the command has said so.
    #[error("refused")]
    SaidRefused,
    #[error("interrupted")]
    Interrupted,
}

impl Failure {
    pub fn code(&self) -> u8 {
        match self {
            Self::Failed(_) | Self::Said => 1,
            Self::Usage(_) | Self::Start(_) | Self::SaidRefused => 2,
            Self::AwaitsConfirmation => 3,
            Self::Interrupted => 130,
        }
    }

    /// What is left to say: one line, or a heading and a line for each problem.
    pub fn text(&self) -> Option<String> {
        match self {
            // An interrupting user knows it, and does not wait for the reader of the output.
            Self::Said | Self::SaidRefused | Self::AwaitsConfirmation | Self::Interrupted => None,
            other => Some(with_heading(&other.to_string())),
        }
    }
}

fn with_heading(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    match lines.as_slice() {
        [] | [_] => text.to_owned(),
        lines => format!("{} problems\n  {}", lines.len(), lines.join("\n  ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_problems_have_a_heading() {
        assert_eq!(Failure::Start("a\nb".to_owned()).text().as_deref(), Some("2 problems\n  a\n  b"));
        assert_eq!(Failure::Failed("a".to_owned()).text().as_deref(), Some("a"));
    }
}
