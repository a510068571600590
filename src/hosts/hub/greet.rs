//! From `Hello` to `Welcome`: whose slot it is, and which tools its catalogue is worth.

use tokio::{sync::mpsc, time::sleep};

use super::{CatalogueState, HostState, Hub, Provider, superseded_leave};
use crate::{
    bounds::SUPERSEDED_GRACE,
    catalogue::Disposition,
    end::End,
    holder::Claim,
    pool::{Command, Handle, StreamPermit},
    slot::Greeting,
    wire,
};
use toolwire_base::clock;
use toolwire_providers::{Verdicts, ids::ProviderName};

/// A stream that may open a slot of one provider.
#[derive(Debug)]
pub(crate) struct Admitted {
    pub(crate) provider: ProviderName,
    /// Its host presented no credentials.
    is_local: bool,
    permit: StreamPermit,
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
    /// A stream whose credentials are those of the given provider, or which has none.
    pub(crate) fn admit(&self, provider: &ProviderName) -> Result<Admitted, End> {
        let is_local = self.0.local.as_ref() == Some(provider);
        // Until it has said its name, one without credentials must not be refused for the slots of `local`.
        let permit = if is_local { self.pool().open() } else { self.pool().admit(provider) }?;
        Ok(Admitted { provider: provider.clone(), is_local, permit })
    }

    /// Takes the name that the host states, if it may.
    fn name(&self, admitted: &mut Admitted, stated: &str) -> Result<(), End> {
        if stated.is_empty() || stated == admitted.provider.as_str() {
            return admitted.permit.count_for(&admitted.provider);
        }
        if !admitted.is_local {
            let own = admitted.provider.to_string();
            return Err(End::WrongProvider { own, stated: stated.to_owned() });
        }
        let name = ProviderName::from(stated);
        let checked = self.0.registrar.check_name(&name);
        checked.map_err(|why| End::WrongName { stated: stated.to_owned(), why })?;
        self.admit_name(&name)?;
        admitted.permit.count_for(&name)?;
        admitted.provider = name;
        Ok(())
    }

    /// Serves the offers if they are to be, and adds the slot if its catalogue is in service: in one turn, since a
    /// greeting of an older catalogue that waits for its own would find the newer one without slots.
    pub(crate) async fn greet(
        &self,
        admitted: &mut Admitted,
        greeting: &Greeting,
        offers: Option<Vec<wire::Offer>>,
        commands: &mpsc::UnboundedSender<Command>,
    ) -> Result<GreetingReply, End> {
        self.name(admitted, &greeting.provider)?;
        let provider = &admitted.provider;
        let state = self.provider(provider);
        let mut catalogue = state.greeting.lock().await;
        let waits = admitted.is_local && claim(provider, greeting, &mut catalogue)?;
        let disposition = match catalogue.known.disposition(&greeting.catalogue) {
            // Whatever it offers now: two programs would take turns for ever.
            Disposition::Next if waits && self.pool().count(provider.as_str()).0 > 0 => {
                Disposition::Superseded
            }
            Disposition::Superseded if !waits && is_rollback(greeting, &state, &catalogue) => {
                catalogue.known.renew(&greeting.catalogue);
                Disposition::Next
            }
            disposition => disposition,
        };
        match (disposition, offers) {
            (Disposition::Superseded, _) => {
                state.seen().note(greeting, HostState::Waiting);
                catalogue.tenure.note(&greeting.instance);
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
        catalogue.tenure.note(&greeting.instance);
        if catalogue.tenure.hold(&greeting.program) && admitted.is_local {
            tracing::info!(%provider, program = %greeting.program, "the name is the program's from here on");
        }
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
        catalogue.tenure.serve();
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

    /// A slot takes no more calls: it was lost, or leaves, as its host asked to or not.
    pub(crate) async fn detach(&self, slot: &Handle, has_asked: bool) {
        let state = self.provider(&slot.provider);
        let is_last = self.pool().remove(slot) == 0;
        let mut catalogue = state.greeting.lock().await;
        catalogue.known.detach(&slot.catalogue);
        // Slots join under the lock.
        if self.pool().count(slot.provider.as_str()).0 == 0 {
            catalogue.tenure.end_slots(has_asked, clock::now());
        }
        drop(catalogue);
        if is_last {
            self.watch_absence(&slot.provider);
        }
    }
}

/// Refuses a program whose name another one has, and has the catalogue of one that takes it over be the newest. Returns
/// whether it waits for the other one.
fn claim(provider: &ProviderName, greeting: &Greeting, catalogue: &mut CatalogueState) -> Result<bool, End> {
    match catalogue.tenure.claim(greeting, clock::now()) {
        Claim::Granted => Ok(false),
        Claim::Waits => Ok(true),
        Claim::TakesOver => {
            catalogue.known.renew(&greeting.catalogue);
            Ok(false)
        }
        Claim::Held { holder, lost } => {
            let (provider, holder) = (provider.to_string(), holder.to_owned());
            Err(End::ProviderHeld { provider, holder, lost })
        }
    }
}

/// Whether a host of a replaced catalogue was started after the one that is served, and no host of it is left over from
/// before.
fn is_rollback(greeting: &Greeting, state: &Provider, catalogue: &CatalogueState) -> bool {
    catalogue.tenure.is_newer(&greeting.instance)
        && !catalogue.known.has_slots(&greeting.catalogue)
        && !state.seen().has_copy_of(greeting)
}

fn welcome(provider: &ProviderName, Verdicts { accepted, verdicts }: Verdicts) -> wire::Welcome {
    wire::Welcome { send_catalogue: false, verdicts, provider: provider.to_string(), accepted }
}

fn log(provider: &ProviderName, greeting: &Greeting, verdicts: &Verdicts) {
    let refused = verdicts.verdicts.iter().filter(|it| it.state() == wire::VerdictState::Refused).count();
    let (sdk, accepted) = (&greeting.sdk, verdicts.accepted);
    tracing::info!(%provider, instance = %greeting.instance, sdk, accepted, refused, "a catalogue is in service");
}
