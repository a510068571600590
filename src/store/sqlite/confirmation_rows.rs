//! One confirmation: its row, and its transitions. Not here: who asks for one, and who decides.

mod rows;
mod transition;

pub(super) use self::{
    rows::{COLUMNS, LISTED_COLUMNS, Shown, confirmation, note},
    transition::{by_id, decided_already, end, transition, withdraw_of_tasks},
};

use std::time::SystemTime;

use crate::{confirmations::Asked, idempotency::Beginning};

/// A call that needs a confirmation.
#[derive(Clone, Copy)]
pub(super) struct ConfirmedCall<'a> {
    pub(super) begins: Beginning<'a>,
    pub(super) asked: &'a Asked,
    pub(super) expires_at: SystemTime,
}
