//! The columns of an outcome, which the tables of calls and of results have: its description as JSON in `kept`, and the
//! bytes of its data in `data`.

use serde::{Deserialize, Serialize};

use toolwire_contract::{
    Outcome, Payload, Provenance, ToolError,
    payload::{Encoded, EncodedForm, StoredPayload},
};
use toolwire_db::{StoreError, sql::record};

#[derive(Debug)]
pub(crate) struct OutcomeColumns {
    /// JSON of [`Description`].
    pub(crate) description: String,
    /// The data; empty for an error.
    pub(crate) data: Vec<u8>,
}

record!(OutcomeColumns, "outcome", { description: "kept", data });

#[derive(Debug, Serialize, Deserialize)]
struct Description {
    provenance: Provenance,
    outcome: Result<EncodedForm, ToolError>,
}

impl Description {
    fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts, numbers and lists are JSON")
    }
}

impl OutcomeColumns {
    pub(crate) fn of(outcome: &Outcome, provenance: &Provenance) -> Self {
        let (outcome, data) = match outcome.as_ref().map(Payload::encode) {
            Ok(Encoded { form, bytes }) => (Ok(form), bytes.into()),
            Err(error) => (Err(error.clone()), Vec::new()),
        };
        let description = Description { provenance: provenance.clone(), outcome };
        Self { description: description.to_json(), data }
    }

    /// Those of JSON data that is kept elsewhere: none is empty.
    pub(crate) fn without_data(provenance: &Provenance) -> Self {
        let description = Description { provenance: provenance.clone(), outcome: Ok(EncodedForm::Json) };
        Self { description: description.to_json(), data: Vec::new() }
    }

    /// Their length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.description.len() + self.data.len()
    }

    pub(crate) fn outcome(self) -> Result<(Outcome<StoredPayload>, Provenance), StoreError> {
        let unreadable =
            |error: serde_json::Error| StoreError::Unreadable { what: "outcome", cause: error.to_string() };
        let Description { provenance, outcome } =
            serde_json::from_str(&self.description).map_err(unreadable)?;
        let encoded = |form| StoredPayload::Encoded(Encoded { form, bytes: self.data.into() });
        Ok((outcome.map(encoded), provenance))
    }
}
