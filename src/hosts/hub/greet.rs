//! From `Hello` to `Welcome`: whose slot it is, and which tools its catalogue is worth.

use tokio::sync::mpsc;

use super::{Hub, Verdicts, superseded_leave};
use crate::{
    catalogue::Standing,
    end::End,
    ids::ProviderName,
    pool::{Command, Handle, StreamPermit},
    slot::Greeting,
    wire,
};

/// A stream that may open a slot of one provider.
#[derive(Debug)]
pub(crate) struct Admitted {
    pub(crate) provider: ProviderName,
    pub(crate) _permit: StreamPermit,
}

/// How a greeting is answered.
#[derive(Debug)]
pub(crate) enum Greeted {
    AskForOffers,
    /// The slot takes calls once `Hub::join` is done.
    Welcome(wire::Welcome),
    /// A newer catalogue is in service: welcome, and goodbye.
    Superseded(wire::Welcome, wire::Leave),
}

impl Hub {
    /// A stream whose credentials are those of the given provider.
    pub(crate) fn admit(&self, provider: &ProviderName) -> Result<Admitted, End> {
        let permit = self.pool().admit(provider)?;
        Ok(Admitted { provider: provider.clone(), _permit: permit })
    }

    pub(crate) async fn greet(
        &self,
        provider: &ProviderName,
        greeting: &Greeting,
        offers: Option<Vec<wire::Offer>>,
    ) -> Result<Greeted, End> {
        if !greeting.provider.is_empty() && greeting.provider != provider.as_str() {
            let (own, stated) = (provider.to_string(), greeting.provider.clone());
            return Err(End::WrongProvider { own, stated });
        }
        let state = self.provider(provider);
        let mut catalogue = state.greeting.lock().await;
        if let Some(offers) = offers {
            catalogue.known.learn(&greeting.catalogue, offers);
        }
        match catalogue.known.standing(&greeting.catalogue) {
            Standing::Unknown => return Ok(Greeted::AskForOffers),
            Standing::Superseded => {
                return Ok(Greeted::Superseded(welcome(provider, Verdicts::default()), superseded_leave()));
            }
            Standing::Served => {}
            Standing::Next => {
                let offers = catalogue.known.offers(&greeting.catalogue).unwrap_or_default();
                catalogue.verdicts = self.0.registrar.serve(self, provider, &offers).await;
                catalogue.known.serve(&greeting.catalogue);
                self.pool().supersede(provider, &greeting.catalogue, &superseded_leave());
                log(provider, greeting, &catalogue.verdicts);
            }
        }
        Ok(Greeted::Welcome(welcome(provider, catalogue.verdicts.clone())))
    }

    /// Adds a slot that was welcome. It is idle from here on.
    pub(crate) async fn join(
        &self,
        provider: &ProviderName,
        greeting: &Greeting,
        commands: mpsc::UnboundedSender<Command>,
    ) -> Handle {
        let state = self.provider(provider);
        let mut catalogue = state.greeting.lock().await;
        catalogue.known.attach(&greeting.catalogue);
        let handle = self.pool().join(provider, &greeting.instance, &greeting.catalogue, commands);
        if state.presence.end_absence() {
            self.0.registrar.set_degraded(provider, None);
        }
        // Another may have come up since the greeting.
        if catalogue.known.standing(&greeting.catalogue) != Standing::Served {
            let _ = handle.commands.send(Command::Leave(superseded_leave()));
        }
        handle
    }

    /// A slot takes no more calls: it leaves, or is lost.
    pub(crate) async fn detach(&self, slot: &Handle, greeting: &Greeting) {
        let state = self.provider(&slot.provider);
        let is_last = self.pool().remove(slot) == 0;
        state.greeting.lock().await.known.detach(&greeting.catalogue);
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
