//! The table `accepted_tools`.

use std::time::SystemTime;

use crate::accepted_tools::AcceptedTool;
use toolwire_db::sql::{Statement, insert, record, select, sql};

record!(AcceptedTool, "accepted tool", { name, digest, text });

/// Those of a provider, in order of name.
pub(crate) fn list(provider: &str) -> Statement<AcceptedTool> {
    select!(AcceptedTool, "FROM accepted_tools WHERE provider = {provider} ORDER BY name")
}

pub(crate) fn insert(
    provider: &str,
    AcceptedTool { name, digest, text }: &AcceptedTool,
    now: SystemTime,
) -> Statement {
    insert! { accepted_tools: provider, name, digest, text, accepted_at = now }
}

pub(crate) fn delete(provider: &str) -> Statement {
    sql!("DELETE FROM accepted_tools WHERE provider = {provider}")
}
