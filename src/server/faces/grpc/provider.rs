//! Providers as messages.

use crate::service::providers::ProviderStatus;
use toolwire_contract::proto::{host::v1 as host, v1};
use toolwire_hosts::{HostInfo, HostState};

pub(super) fn render(it: ProviderStatus) -> v1::ProviderStatus {
    let kind = if it.is_mcp { v1::ProviderKind::Mcp } else { v1::ProviderKind::Host };
    v1::ProviderStatus {
        name: it.name,
        kind: kind.into(),
        tools: count(it.tools),
        reason: it.reason.unwrap_or_default(),
        hosts: it.hosts.iter().map(of_host).collect(),
        refused: it.refused.into_iter().map(refused).collect(),
        accept_command: String::new(),
    }
}

fn of_host(it: &HostInfo) -> v1::HostStatus {
    let state = match it.state {
        HostState::Serving => v1::HostState::Serving,
        HostState::Waiting => v1::HostState::Waiting,
        HostState::Refused => v1::HostState::Refused,
    };
    v1::HostStatus {
        instance: it.instance.to_string(),
        sdk: it.sdk.to_string(),
        catalogue_id: it.catalogue.to_string(),
        state: state.into(),
        slots: count(it.slots),
        idle: count(it.idle),
    }
}

fn refused(it: host::Verdict) -> v1::RefusedOffer {
    let problem = |it: host::Problem| v1::DefinitionProblem {
        file: String::new(),
        pointer: it.pointer,
        rule: it.rule,
        description: it.description,
    };
    v1::RefusedOffer { tool: it.tool, problems: it.problems.into_iter().map(problem).collect() }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
