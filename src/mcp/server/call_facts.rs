//! The identifiers of a call, for the metadata of its response.

use rmcp::model::{JsonObject, MetaObject};

use toolwire_tool::context::RequestId;

#[derive(Clone, Debug, Default)]
pub(super) struct CallFacts {
    pub(super) call_id: String,
    pub(super) request_id: Option<RequestId>,
}

impl CallFacts {
    /// Takes over the identifiers of an event.
    pub(super) fn learn(&mut self, call_id: String, request_id: &str) {
        self.call_id = call_id;
        self.request_id = request_id.parse().ok().or(self.request_id);
    }

    pub(super) fn metadata(&self) -> MetaObject {
        MetaObject(self.meta())
    }

    pub(super) fn meta(&self) -> JsonObject {
        let mut meta = JsonObject::new();
        if !self.call_id.is_empty() {
            meta.insert("toolwire/call_id".to_owned(), self.call_id.clone().into());
        }
        if let Some(request_id) = self.request_id {
            meta.insert("toolwire/request_id".to_owned(), request_id.to_string().into());
        }
        meta
    }
}
