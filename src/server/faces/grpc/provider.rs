//! `toolwire.v1.ProviderService`, and providers as messages.

use futures_util::{StreamExt, stream};
use tonic::{Request, Response};

use super::{Answered, Streamed, face::Face, service::Service, split};
use crate::service::providers::{ProviderChange, ProviderStatus, ProviderWatch};
use toolwire_base::clock;
use toolwire_contract::{
    convert::timestamp,
    proto::{
        host::v1 as host,
        v1::{
            self, ProviderWatchType,
            provider_service_server::{ProviderService, ProviderServiceServer},
        },
    },
};
use toolwire_hosts::{HostInfo, HostState};
use toolwire_transport::rules::Rule;

pub(super) fn service() -> Service {
    super::service!(ProviderServiceServer, |face| face.clone()).except("WatchProviders", Rule::WATCH)
}

#[tonic::async_trait]
impl ProviderService for Face {
    type WatchProvidersStream = Streamed<v1::WatchProvidersResponse>;

    async fn watch_providers(
        &self,
        request: Request<v1::WatchProvidersRequest>,
    ) -> Answered<Self::WatchProvidersStream> {
        let (user, _, v1::WatchProvidersRequest {}) = split(request);
        let watch = ProviderWatch::new(self.tools.clone(), self.providers.clone(), user);
        let next = async |mut watch: ProviderWatch| Some((Ok(render_change(watch.next().await)), watch));
        Ok(Response::new(stream::unfold(watch, next).boxed()))
    }
}

fn render_change(change: ProviderChange) -> v1::WatchProvidersResponse {
    let (kind, provider) = match change {
        ProviderChange::Added(status) => (ProviderWatchType::Added, Some(render(*status))),
        ProviderChange::Changed(status) => (ProviderWatchType::Changed, Some(render(*status))),
        ProviderChange::Removed(name) => {
            (ProviderWatchType::Removed, Some(v1::ProviderStatus { name, ..Default::default() }))
        }
        ProviderChange::Synced => (ProviderWatchType::Synced, None),
        ProviderChange::Heartbeat => (ProviderWatchType::Heartbeat, None),
    };
    v1::WatchProvidersResponse { r#type: kind.into(), provider, event_time: Some(timestamp(clock::wall())) }
}

pub(super) fn render(it: ProviderStatus) -> v1::ProviderStatus {
    let kind = if it.is_mcp { v1::ProviderKind::Mcp } else { v1::ProviderKind::Host };
    v1::ProviderStatus {
        name: it.name,
        kind: kind.into(),
        tools: count(it.tools),
        reason: it.reason.unwrap_or_default(),
        hosts: it.hosts.iter().map(of_host).collect(),
        refused: it.refused.into_iter().map(refused).collect(),
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
