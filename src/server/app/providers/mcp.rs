//! The MCP servers of the configuration: where each is, and the supervisors that keep them connected.

use std::{convert::Infallible, fmt, future::pending, sync::Arc, time::Duration};

use tokio::time::{sleep, timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{gated_tool::Gates, mcp_offers::McpOffers};
use toolwire_base::digest::Digest;
use toolwire_config::{Config, McpServer, McpTarget};
use toolwire_engine::registry::Registry;
use toolwire_mcp::upstream::{Link, Registrar, Supervisor, Target};
use toolwire_outgoing::Egress;
use toolwire_providers::LastVerdicts;
use toolwire_sources::upstream::origin_client;
use toolwire_state::Store;

/// For all processes to end.
const END: Duration = Duration::from_secs(8);
/// What is accepted is looked at this often where changes of the state cannot be followed.
const LOOK: Duration = Duration::from_secs(1);

/// Where a configured MCP server is.
pub fn mcp_target(server: &McpServer, egress: &Egress) -> Result<Target, String> {
    Ok(match &server.target {
        McpTarget::Url { url, token, certificate } => Target::Http {
            client: origin_client(
                egress,
                url.scheme() == "https",
                certificate.as_ref().map(|it| &it.certificate),
            )?,
            url: url.to_string(),
            token: token.as_ref().map(|it| it.value().cloned()).transpose()?,
        },
        McpTarget::Command { command, env } => Target::Process { command: command.clone(), env: env.clone() },
    })
}

/// The MCP servers whose tools are offered. Cheap to clone; clones share state.
#[derive(Clone)]
pub struct McpServers(Arc<Inner>);

struct Inner {
    servers: Vec<(Link, Target)>,
    registrar: Arc<dyn Registrar>,
    state: Arc<Store>,
    supervisors: TaskTracker,
    stop: CancellationToken,
}

impl fmt::Debug for McpServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("McpServers").field(&self.0.servers).finish()
    }
}

impl McpServers {
    pub(super) fn new(
        config: &Config,
        registry: &Arc<Registry>,
        state: &Arc<Store>,
        gates: &Gates,
        verdicts: LastVerdicts,
    ) -> Result<Self, String> {
        let server = |(name, server): (&str, &McpServer)| {
            Ok((Link::new(name.into()), mcp_target(server, &config.egress)?))
        };
        // A server does not start without a token. Commands need those alone that they present.
        let servers = config.providers.mcp_servers().filter(|(_, it)| it.target.is_complete());
        Ok(Self(Arc::new(Inner {
            servers: servers.map(server).collect::<Result<_, String>>()?,
            registrar: Arc::new(McpOffers::new(config, registry, state, gates, verdicts)),
            state: Arc::clone(state),
            supervisors: TaskTracker::new(),
            stop: CancellationToken::new(),
        })))
    }

    /// Keeps them connected for as long as it is polled.
    pub async fn run(&self) -> Infallible {
        let Inner { servers, registrar, supervisors, stop, .. } = &*self.0;
        if servers.is_empty() {
            return pending().await;
        }
        let _stop = stop.clone().drop_guard();
        for (link, target) in servers {
            let supervisor = Supervisor::new(link.clone(), target.clone(), Arc::clone(registrar));
            // A task each: none waits for what another reads.
            supervisors.spawn(supervisor.run(stop.clone()));
        }
        self.follow_acceptance().await
    }

    /// Ends connections and processes, within a bound.
    pub async fn end(&self) {
        let Inner { supervisors, stop, .. } = &*self.0;
        stop.cancel();
        supervisors.close();
        if timeout(END, supervisors.wait()).await.is_err() {
            tracing::warn!("the processes of MCP servers did not end in time");
        }
    }

    /// An operator accepts tools in another process.
    async fn follow_acceptance(&self) -> Infallible {
        let Inner { servers, state, .. } = &*self.0;
        let (mut changed, mut known) = (None, None);
        loop {
            // Kept: each new follower is notified at once.
            if changed.is_none() {
                changed = state.follow_accepted_tools().await.ok();
            }
            if let Some(read) = self.accepted_digests().await {
                if known.as_ref().is_some_and(|known| *known != read) {
                    for (link, _) in servers {
                        link.reconsider();
                    }
                }
                known = Some(read);
            }
            let is_notified = match &mut changed {
                Some(changed) => changed.changed().await.is_ok(),
                None => false,
            };
            if !is_notified {
                changed = None;
                sleep(LOOK).await;
            }
        }
    }

    /// By server. `None` if they cannot be read now.
    async fn accepted_digests(&self) -> Option<Vec<Vec<Digest>>> {
        let mut all = Vec::new();
        for (link, _) in &self.0.servers {
            let accepted = self.0.state.accepted_tools(link.provider().as_str()).await.ok()?;
            all.push(accepted.iter().map(|it| it.digest).collect());
        }
        Some(all)
    }
}
