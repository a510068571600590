//! From `Hello` to `Welcome`: whose slot it is, and which tools its catalogue is worth.

use tokio::{sync::mpsc, time::sleep};

use super::{CatalogueState, HostState, Hub, Provider, superseded_leave};
use crate::{
    bounds::SUPERSEDED_GRACE,
    catalogue::Disposition,
    end::End,
    pool::{Command, Handle, StreamPermit},
    slot::Greeting,
    wire,
};
use toolwire_providers::Verdicts;
use toolwire_providers::ids::ProviderName;

/// A stream that may open a slot of one provider.
#[derive(Debug)]
pub(crate) struct Admitted {
    pub(crate) provider: ProviderName,
    pub(crate) _permit: StreamPermit,
}

/// The answer to a greeting.
#[derive(Debug)]
pub(crate) enum GreetingReply {
    AskForOffers,
    /// The slot takes calls.
    Welcome(wire::Welcome, Handle),
    /// A newer catalogue is in service: the slot is welcome, and leaves at once.
    Superseded(wire::Welcome, wire::Leave),
}

impl Hub {
    /// A stream whose credentials are those of the given provider.
    pub(crate) fn admit(&self, provider: &ProviderName) -> Result<Admitted, End> {
        let permit = self.pool().admit(provider)?;
        Ok(Admitted { provider: provider.clone(), _permit: permit })
    }

    /// Serves the offers if they are to be, and adds the slot if its catalogue is in service: in one turn, since a
    /// greeting of an older catalogue that waits for its own would find the newer one without slots.
    pub(crate) async fn greet(
        &self,
        provider: &ProviderName,
        greeting: &Greeting,
        offers: Option<Vec<wire::Offer>>,
        commands: &mpsc::UnboundedSender<Command>,
    ) -> Result<GreetingReply, End> {
        if !greeting.provider.is_empty() && greeting.provider != provider.as_str() {
            let (own, stated) = (provider.to_string(), greeting.provider.clone());
            return Err(End::WrongProvider { own, stated });
        }
        let state = self.provider(provider);
        let mut catalogue = state.greeting.lock().await;
        match (catalogue.known.disposition(&greeting.catalogue), offers) {
            (Disposition::Superseded, _) => {
                state.seen().note(greeting, HostState::Waiting);
                return Ok(GreetingReply::Superseded(
                    welcome(provider, Verdicts::default()),
                    superseded_leave(),
                ));
            }
            (Disposition::Next, None) => return Ok(GreetingReply::AskForOffers),
            (Disposition::Next, Some(offers)) => {
                let served = self.serve(provider, greeting, offers, &mut catalogue).await;
                served.inspect_err(|_| state.seen().note(greeting, HostState::Refused))?;
            }
            (Disposition::Served, _) => {}
        }
        catalogue.known.attach(&greeting.catalogue);
        let slot = self.join(&state, provider, greeting, commands);
        Ok(GreetingReply::Welcome(welcome(provider, catalogue.verdicts.clone()), slot))
    }

    /// Puts the offers into service. If none of them can be served, the catalogue that is in service stays.
    async fn serve(
        &self,
        provider: &ProviderName,
        greeting: &Greeting,
        offers: Vec<wire::Offer>,
        catalogue: &mut CatalogueState,
    ) -> Result<(), End> {
        let id = &greeting.catalogue;
        // Calls of the new definitions may come before the slots of the old ones are asked to leave.
        self.pool().announce(provider, id);
        let has_offers = !offers.is_empty();
        let verdicts = self.0.registrar.serve(self, provider, id, offers).await;
        if verdicts.accepted == 0 && has_offers {
            self.pool().retract(provider, id);
            let end = End::NothingServed(verdicts.refusals());
            tracing::warn!(%provider, instance = %greeting.instance, sdk = %greeting.sdk, %end, "a host is refused");
            return Err(end);
        }
        catalogue.verdicts = verdicts;
        catalogue.known.serve(id);
        self.retire_others(provider);
        log(provider, greeting, &catalogue.verdicts);
        Ok(())
    }

    /// Lets the slots of other catalogues leave, after the time that calls may need which began under their
    /// definitions.
    fn retire_others(&self, provider: &ProviderName) {
        let (hub, provider) = (self.clone(), provider.clone());
        tokio::spawn(async move {
            sleep(SUPERSEDED_GRACE).await;
            let state = hub.provider(&provider);
            let catalogue = state.greeting.lock().await;
            if let Some(served) = catalogue.known.served() {
                hub.pool().supersede(&provider, served, &superseded_leave());
            }
        });
    }

    /// Adds a slot. It is idle from here on.
    fn join(
        &self,
        state: &Provider,
        provider: &ProviderName,
        greeting: &Greeting,
        commands: &mpsc::UnboundedSender<Command>,
    ) -> Handle {
        let host = (&greeting.instance, &*greeting.sdk);
        let slot = self.pool().join(provider, host, &greeting.catalogue, commands.clone());
        state.seen().forget(&greeting.instance);
        if state.presence.end_absence() {
            self.0.registrar.set_degraded(provider, None);
        }
        slot
    }

    /// A slot takes no more calls: it leaves, or is lost.
    pub(crate) async fn detach(&self, slot: &Handle) {
        let state = self.provider(&slot.provider);
        let is_last = self.pool().remove(slot) == 0;
        state.greeting.lock().await.known.detach(&slot.catalogue);
        if is_last {
            self.watch_absence(&slot.provider);
        }
    }
}

fn welcome(provider: &ProviderName, Verdicts { accepted, verdicts }: Verdicts) -> wire::Welcome {
    wire::Welcome { send_catalogue: false, verdicts, provider: provider.to_string(), accepted }
}

fn log(provider: &ProviderName, greeting: &Greeting, verdicts: &Verdicts) {
    let refused = verdicts.verdicts.iter().filter(|it| it.state() == wire::VerdictState::Refused).count();
    let (sdk, accepted) = (&greeting.sdk, verdicts.accepted);
    tracing::info!(%provider, instance = %greeting.instance, sdk, accepted, refused, "a catalogue is in service");
}
