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
    /// The tool or the command failed, which was reported already.
    #[error("failed")]
    Reported,
    /// A person must approve the call first, which was reported already.
    #[error("awaits confirmation")]
    AwaitsConfirmation,
    /// The service would not start, which was reported already.
    #[error("refused")]
    ReportedRefusal,
    #[error("interrupted")]
    Interrupted,
}

impl Failure {
    pub fn code(&self) -> u8 {
        match self {
            Self::Failed(_) | Self::Reported => 1,
            Self::Usage(_) | Self::Start(_) | Self::ReportedRefusal => 2,
            Self::AwaitsConfirmation => 3,
            Self::Interrupted => 130,
        }
    }

    /// The text that is still to be printed: one line, or a heading and a line for each problem.
    pub fn text(&self) -> Option<String> {
        match self {
            // An interrupting user knows it, and does not wait for the reader of the output.
            Self::Reported | Self::ReportedRefusal | Self::AwaitsConfirmation | Self::Interrupted => None,
            other => Some(with_heading(&other.to_string())),
        }
    }
}

fn with_heading(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    match lines.as_slice() {
        // Lines that are indented say more of the first.
        lines if lines.iter().skip(1).all(|line| line.starts_with("  ")) => text.to_owned(),
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
        assert_eq!(Failure::Failed("a\n  b".to_owned()).text().as_deref(), Some("a\n  b"));
    }
}
