//! What two domains take for themselves though it can belong to one only: a domain's name, and the name of a tool.
//!
//! Not here: settings, messages and gRPC services, which are refused where each kind is put together.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    domain::Domain,
    files::{Problem, Problems},
};

/// Fails with every conflict, naming both domains. Those that are not offered count too: whether the service starts must
/// not depend on a switch.
pub(super) fn refuse(domains: &[Domain]) -> Result<(), Problems> {
    let (mut names, mut owners, mut problems) = (BTreeSet::new(), BTreeMap::new(), Vec::new());
    for domain in domains {
        let name = domain.name;
        if !names.insert(name) {
            let text = format!("two domains are named {name}; register it once, or rename one");
            problems.push(Problem::new(name, "duplicate-domain", text));
            // Each of its tools would be told too.
            continue;
        }
        for tool in &domain.tools {
            let first = *owners.entry(tool.name()).or_insert(name);
            if first != name {
                let text = format!("both {first} and {name} offer the tool {}; rename one", tool.name());
                problems.push(Problem::new(name, "duplicate-tool", text));
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Problems(problems)) }
}
