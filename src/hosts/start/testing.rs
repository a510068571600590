//! What tests make calls of.

use std::{sync::Arc, time::Duration};

use serde_json::json;

use super::Write;
use toolwire_providers::{Effect, Spec, ToolParts};
use toolwire_tool::context::{CallId, RequestId};

/// A tool that another process executes.
pub(crate) fn spec(tool: &str, effect: Effect) -> Arc<Spec> {
    let parts = ToolParts {
        provider: "shop".into(),
        tool: tool.parse().expect("a name"),
        effect,
        timeout: Duration::from_secs(15),
        input: Arc::default(),
        output: Arc::new(json!({"type": "object"})),
    };
    Arc::new(Spec::new(&parts).expect("a schema"))
}

pub(crate) fn write(call_id: CallId) -> Arc<Write> {
    Arc::new(Write {
        spec: spec("refund", Effect::Write),
        user: "riley".parse().expect("a user id"),
        request_id: RequestId::generate(),
        call_id,
        is_of_task: false,
        is_lost: false,
    })
}
