//! The parts of a message that are not read, such as images. The end of the answer names them, so that the user knows
//! that they had no part in it.

use super::Turn;
use toolwire_contract::proto::agent::v1::{AnswerDelta, turn_event::Event as LogEvent};

impl Turn<'_> {
    /// Names them in the answer, for people, and in the warnings, for programs.
    pub(super) fn name_unread_parts(&mut self) {
        if self.request.unread.is_empty() {
            return;
        }
        let kinds = self.request.unread.join(", ");
        let warning = format!("Only text can be read. Not taken into account: {kinds}.");
        let gap = if self.draft.answer.is_empty() { "" } else { "\n\n" };
        let text = format!("{gap}{warning}");
        self.draft.answer.push_str(&text);
        self.draft.warnings.push(warning);
        self.log.tell(LogEvent::AnswerDelta(AnswerDelta { text }));
    }
}
