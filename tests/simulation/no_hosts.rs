//! The simulation has no hosts of providers.

use std::{future::ready, sync::Arc};

use futures_util::future::BoxFuture;
use toolwire::{
    config,
    contract::{Payload, ToolError, proto::host::v1::Offer},
    hosts::{Hub, Registrar, Settle, Write, WriteRecord},
    providers::{
        LastVerdicts, Verdicts,
        ids::{CatalogueId, ProviderName},
    },
    server::service::providers::Providers,
    tool::context::CallId,
};

struct NoHosts;

/// A hub that refuses every offer, and no provider.
pub(crate) fn providers() -> Providers {
    let hub = Hub::new(1, None, Arc::new(NoHosts), Arc::new(NoHosts));
    Providers::new(&config::Providers::default(), hub, LastVerdicts::default())
}

impl Registrar for NoHosts {
    fn serve<'a>(
        &'a self,
        _: &'a Hub,
        _: &'a ProviderName,
        _: &'a CatalogueId,
        _: Vec<Offer>,
    ) -> BoxFuture<'a, Verdicts> {
        Box::pin(ready(Verdicts::default()))
    }

    fn check_name(&self, _: &ProviderName) -> Result<(), String> {
        unreachable!("no host dials in")
    }

    fn set_degraded(&self, _: &ProviderName, _: Option<String>) {}

    fn withdraw(&self, _: &ProviderName) {}

    fn forget(&self, _: &ProviderName) {}
}

impl Settle for NoHosts {
    fn find<'a>(&'a self, _: &'a ProviderName, _: CallId) -> BoxFuture<'a, WriteRecord> {
        Box::pin(ready(WriteRecord::Unknown))
    }

    fn settle<'a>(&'a self, _: &'a Write, _: Result<Payload, ToolError>) -> BoxFuture<'a, bool> {
        Box::pin(ready(true))
    }
}
