//! Shows progress of a call: a moving bar on a terminal, otherwise one line an event.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::{is_watched, say};
use toolwire_base::words::visible;

/// The length of the bar.
const WHOLE: u32 = 1000;
/// The interval at which the bar moves by itself.
const TICK: Duration = Duration::from_millis(100);

/// Prints the progress of a call.
#[derive(Debug)]
pub enum Narrator {
    /// A line an event.
    Lines,
    /// A bar, and lines above it.
    Bar(ProgressBar),
}

impl Narrator {
    /// The one that suits standard error.
    pub fn on_terminal() -> Self {
        if !is_watched() {
            return Self::Lines;
        }
        let bar = ProgressBar::new_spinner();
        bar.enable_steady_tick(TICK);
        Self::Bar(bar)
    }

    pub fn tell(&self, line: &str) {
        match self {
            Self::Lines => say(line),
            Self::Bar(bar) => bar.suspend(|| say(line)),
        }
    }

    /// Shows the progress of the call.
    pub fn progress(&self, fraction: Option<f64>, message: &str, line: &str) {
        match self {
            Self::Lines => say(line),
            Self::Bar(bar) => {
                if let Some(fraction) = fraction {
                    bar.set_style(bar_style());
                    bar.set_length(WHOLE.into());
                    bar.set_position(steps(fraction));
                }
                bar.set_message(visible(message));
            }
        }
    }
}

impl Drop for Narrator {
    fn drop(&mut self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

fn bar_style() -> ProgressStyle {
    ProgressStyle::with_template("{bar:32} {percent:>3}% {msg}").expect("the template is well-formed")
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=WHOLE")]
fn steps(fraction: f64) -> u64 {
    (fraction.clamp(0.0, 1.0) * f64::from(WHOLE)) as u64
}
