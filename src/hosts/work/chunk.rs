//! A part of the data of a call, ahead of its outcome. One that cannot be carried is a fault of its call, whose
//! outcome it changes; the slot goes on, unless the message was too large to be read.

use serde_json::{Map, Value};

use crate::wire::outcome::Outcome;
use toolwire_base::offload;
use toolwire_contract::proto::v1;
use toolwire_providers::{
    bounds::{MAX_DATA, MAX_MESSAGE},
    outcome::parse,
};

/// Why a part of the data is not passed on.
#[derive(Debug)]
pub(super) struct Fault {
    code: v1::ToolErrorCode,
    what: String,
}

pub(super) async fn read(text: String) -> Result<Map<String, Value>, Fault> {
    let length = text.len();
    if length > MAX_DATA {
        let what = format!("is {length} bytes, over the limit of {MAX_DATA}");
        return Err(Fault { code: v1::ToolErrorCode::ResultTooLarge, what });
    }
    let data = offload::if_large(length, move || parse(&text)).await;
    data.map_err(|what| Fault { code: v1::ToolErrorCode::ParseError, what })
}

impl Fault {
    /// The outcome of the call, whose caller lacks a part of the data. An error of a write says more than that, and
    /// stays.
    pub(super) fn replace(self, outcome: Outcome, is_write: bool) -> Outcome {
        let done = match outcome {
            Outcome::Error(_) if is_write => return outcome,
            Outcome::DataJson(_) if is_write => "The write was done. ",
            _ => "",
        };
        let message = format!("{done}A part of the data {}.", self.what);
        Outcome::Error(v1::ToolError { code: self.code.into(), message, ..v1::ToolError::default() })
    }
}

/// A message that was not read. It may have been any of the call.
pub(super) fn too_large() -> Outcome {
    Outcome::Error(v1::ToolError {
        code: v1::ToolErrorCode::ResultTooLarge.into(),
        message: format!("The host said more than {MAX_MESSAGE} bytes at once."),
        ..v1::ToolError::default()
    })
}
