//! Conflicts between domains: a domain's name, and the name of a tool, can belong to one only.
//!
//! Not here: settings, messages, services of tools and gRPC services, which are refused where each kind is put
//! together.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Domain, OpenError};
use toolwire_base::files::{Problem, Problems};
use toolwire_tool::context::Services;

/// Fails with every conflict, naming both domains. Those that are not offered count too: whether the service starts
/// must not depend on a switch.
pub(super) fn refuse(domains: &[Domain]) -> Result<(), Problems> {
    let (mut names, mut owners, mut problems) = (BTreeSet::new(), BTreeMap::new(), Vec::new());
    for domain in domains {
        let name = domain.name;
        if !names.insert(name) {
            let text = format!("two domains are named {name}; register it once, or rename one");
            problems.push(Problem::new(name, "duplicate-domain", text));
            // Each of its tools would be reported too.
            continue;
        }
        for tool in &domain.tools {
            if let Some(first) = owners.insert(tool.name(), name) {
                let text = match tool.name() {
                    tool if first == name => format!("{name} lists the tool {tool} twice; remove one"),
                    tool => format!("both {first} and {name} offer the tool {tool}; rename one"),
                };
                problems.push(Problem::new(name, "duplicate-tool", text));
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Problems(problems)) }
}

/// Services of one type that a domain and an earlier one both offer: tools would find only the later one.
pub(super) fn services(
    owners: &[(&'static str, Services)],
    name: &'static str,
    services: &Services,
) -> Vec<OpenError> {
    let both = owners.iter().flat_map(|(owner, others)| others.common(services).map(move |it| (owner, it)));
    both.map(|(owner, it)| format!("both {owner} and {name} offer the service {it}").into()).collect()
}
