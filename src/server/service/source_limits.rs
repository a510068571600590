//! The limits of sources, as the users of their tools see them.

use std::collections::BTreeSet;

use super::{Filter, Tools, request::refuse};
use toolwire_contract::Refusal;
use toolwire_sources::upstream::source_status::SourceStatus;
use toolwire_tool::context::User;

impl Tools {
    /// The status of each source that the user's tools read from, with its name as definitions say it, in order of
    /// name; only of `source`, unless that is empty.
    pub async fn limits(&self, user: &User, source: &str) -> Result<Vec<(String, SourceStatus)>, Refusal> {
        let tools: Vec<_> = self.list(user, Filter::default()).collect();
        let sources = tools.iter().filter_map(|tool| tool.definition.source.as_ref());
        let mut sources: BTreeSet<_> = sources.map(|source| source.name.as_str()).collect();
        if !source.is_empty() && !sources.contains(source) {
            let known = Vec::from_iter(sources).join(", ");
            return Err(refuse("source", "enum", &format!("must be one of: {known}")));
        }
        sources.retain(|name| source.is_empty() || *name == source);
        let mut statuses = Vec::new();
        for name in sources {
            statuses.push((name.to_owned(), self.source_status(user, name).await));
        }
        Ok(statuses)
    }

    /// The status of a source as the user sees it: how much others use is for observers.
    pub(super) async fn source_status(&self, user: &User, source: &str) -> SourceStatus {
        let status = self.limits.status(&user.id, source).await;
        let ceiling = status.ceiling.filter(|_| self.calls().observes(user));
        SourceStatus { ceiling, ..status }
    }
}
