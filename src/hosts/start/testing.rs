//! What tests make calls of.

use std::sync::Arc;

use super::Write;
use crate::{outcome::Effect, spec::Spec};
use toolwire_tool::context::{CallId, RequestId};

pub(crate) fn write(call_id: CallId) -> Arc<Write> {
    Arc::new(Write {
        spec: Spec::of_test("refund", Effect::Write),
        user: "riley".parse().expect("a user id"),
        request_id: RequestId::generate(),
        call_id,
        is_of_task: false,
        is_lost: false,
    })
}
