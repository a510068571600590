//! The columns of an outcome: its description as JSON, and the bytes of its data.
//!
//! Shared by the tables of results and of request ids.

use serde::{Deserialize, Serialize};

use crate::StoreError;
use toolwire_contract::{
    Outcome, Payload, Provenance, ToolError,
    payload::{Encoded, EncodedForm, StoredPayload},
};

#[derive(Debug)]
pub(super) struct OutcomeColumns {
    /// JSON of [`Description`].
    pub(super) description: String,
    /// The data; empty for an error.
    pub(super) data: Vec<u8>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Description {
    provenance: Provenance,
    outcome: Result<EncodedForm, ToolError>,
}

impl OutcomeColumns {
    pub(super) fn of(outcome: &Outcome, provenance: &Provenance) -> Self {
        let (outcome, data) = match outcome.as_ref().map(Payload::encode) {
            Ok(Encoded { form, bytes }) => (Ok(form), bytes.to_vec()),
            Err(error) => (Err(error.clone()), Vec::new()),
        };
        let description = Description { provenance: provenance.clone(), outcome };
        let description = serde_json::to_string(&description).expect("texts, numbers and lists are JSON");
        Self { description, data }
    }

    pub(super) fn outcome(self) -> Result<(Outcome<StoredPayload>, Provenance), StoreError> {
        let unreadable =
            |error: serde_json::Error| StoreError::Unreadable { what: "outcome", cause: error.to_string() };
        let Description { provenance, outcome } =
            serde_json::from_str(&self.description).map_err(unreadable)?;
        let encoded = |form| StoredPayload::Encoded(Encoded { form, bytes: self.data.into() });
        Ok((outcome.map(encoded), provenance))
    }
}
