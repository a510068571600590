//! A provider in words: a heading, then its programs and what is not served of its offers, one a line.

use crate::table::Table;
use toolwire_base::words::{counted, visible};
use toolwire_contract::proto::v1::{self, HostState};
use toolwire_server::console::{self, Failure};

pub(super) fn print(it: &v1::ProviderStatus) -> Result<(), Failure> {
    console::heading(&heading(it))?;
    let below = below(it, console::width());
    if below.is_empty() { Ok(()) } else { console::print(&below) }
}

/// `shop (host): 2 tools, ready`.
fn heading(it: &v1::ProviderStatus) -> String {
    let kind = it.kind().as_str_name().trim_start_matches("PROVIDER_KIND_").to_lowercase();
    let tools = counted(it.tools as usize, "tool", "tools");
    let state = match (it.tools, &*it.reason) {
        (0, "") => "",
        (_, "") => ", ready",
        (_, reason) => &format!(", {}", visible(reason)),
    };
    format!("{} ({kind}): {tools}{state}", visible(&it.name))
}

fn below(it: &v1::ProviderStatus, width: Option<usize>) -> String {
    let hosts = it.hosts.iter().map(host);
    let hosts = Table::new(hosts).with_heading(HOSTS).with_ids(0).with_dispensable(&[1]);
    let hosts = if it.hosts.is_empty() { String::new() } else { hosts.render("  ", width) };
    let refused = it.refused.iter().map(refused);
    let refused = Table::new(refused).render("  ", width);
    hosts + &refused
}

const HOSTS: [&str; 4] = ["HOST", "LIBRARY", "VERSION", "STATE"];
/// How much of the digest that names a version is shown.
const VERSION: usize = 12;

fn host(it: &v1::HostStatus) -> [String; 4] {
    let state = match it.state() {
        HostState::Serving => {
            format!("serves, {} of {} free", it.idle, counted(it.slots as usize, "slot", "slots"))
        }
        HostState::Waiting => "waits: another version is in service".to_owned(),
        HostState::Refused => "was refused, with all that it offers".to_owned(),
        HostState::Unspecified => String::new(),
    };
    let version = visible(&it.catalogue_id).chars().take(VERSION).collect();
    [visible(&it.instance), visible(&it.sdk), version, state]
}

fn refused(it: &v1::RefusedOffer) -> [String; 3] {
    // Of a problem that is described to others alone there is the rule.
    let words = |problem: &v1::DefinitionProblem| match &*problem.description {
        "" => problem.rule.clone(),
        description => description.to_owned(),
    };
    let why = it.problems.iter().map(|problem| match &*problem.pointer {
        "" => words(problem),
        pointer => format!("{pointer} {}", words(problem)),
    });
    let why: Vec<_> = why.collect();
    ["refused".to_owned(), visible(&it.tool), visible(&why.join("; "))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_a_heading_its_hosts_and_what_is_refused() {
        let host = |instance: &str, state: HostState| v1::HostStatus {
            instance: instance.to_owned(),
            sdk: "python/0.1.0".to_owned(),
            catalogue_id: "8d2f00aa11bb22cc".to_owned(),
            state: state.into(),
            slots: 16,
            idle: 14,
        };
        let problem = v1::DefinitionProblem {
            pointer: "/name".to_owned(),
            description: "another owns it".to_owned(),
            ..v1::DefinitionProblem::default()
        };
        let shop = v1::ProviderStatus {
            name: "shop".to_owned(),
            kind: v1::ProviderKind::Host.into(),
            tools: 2,
            hosts: vec![host("i1", HostState::Serving), host("i2", HostState::Waiting)],
            refused: vec![v1::RefusedOffer { tool: "refund".to_owned(), problems: vec![problem] }],
            ..v1::ProviderStatus::default()
        };
        assert_eq!(heading(&shop), "shop (host): 2 tools, ready");
        let expected = "  \
  HOST  LIBRARY       VERSION       STATE
  i1    python/0.1.0  8d2f00aa11bb  serves, 14 of 16 slots free
  i2    python/0.1.0  8d2f00aa11bb  waits: another version is in service
  refused  refund  /name another owns it
";
        assert_eq!(below(&shop, None), expected);
        let reason = "no host of `shop` is connected".to_owned();
        let gone = v1::ProviderStatus { reason, tools: 1, hosts: Vec::new(), ..shop };
        assert_eq!(heading(&gone), "shop (host): 1 tool, no host of `shop` is connected");
        let never = v1::ProviderStatus { name: "docs".to_owned(), kind: 2, ..v1::ProviderStatus::default() };
        assert_eq!((&*heading(&never), &*below(&never, None)), ("docs (mcp): 0 tools", ""));
    }
}
