//! What tests make calls of.

use std::sync::Arc;

use super::Write;
use crate::{outcome::Effect, spec::Spec};
use toolwire_tool::context::{CallId, RequestId};

pub(crate) fn write(call_id: CallId) -> Arc<Write> {
    let spec = Spec::of_test("refund", Effect::Write);
    Arc::new(Write {
        provider: spec.provider.clone(),
        tool: spec.tool.clone(),
        user: "riley".parse().expect("a user id"),
        request_id: RequestId::generate(),
        call_id,
        is_of_task: false,
        spec,
    })
}
