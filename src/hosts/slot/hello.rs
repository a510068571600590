//! Checks `Hello`: the process that opens a slot.

use prost::Message;

use crate::{
    bounds::{MAX_PROGRAM, PROTOCOL},
    end::End,
    wire,
};
use toolwire_providers::{
    bounds::{MAX_ID, MAX_OFFERS},
    ids::{CatalogueId, InstanceId},
};

/// What a host says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Greeting {
    /// The provider that the host names. Empty: the one of its credentials.
    pub(crate) provider: String,
    pub(crate) instance: InstanceId,
    pub(crate) sdk: String,
    pub(crate) catalogue: CatalogueId,
    /// The program, of which this process is a copy. Empty: not stated.
    pub(crate) program: String,
}

impl Greeting {
    /// The first one, which has no offers.
    pub(super) fn first(hello: &wire::Hello) -> Result<Self, End> {
        if !hello.offers.is_empty() {
            return Err(End::violation(
                "a first Hello has no offers: they are sent when Welcome asks for them",
            ));
        }
        Self::read(hello)
    }

    /// The offers of the second one, which says the same otherwise.
    pub(super) fn check_repeat(&self, hello: wire::Hello) -> Result<Vec<wire::Offer>, End> {
        if Self::read(&hello)? != *self {
            return Err(End::violation("a second Hello says something else than the first"));
        }
        if hello.offers.len() > MAX_OFFERS {
            return Err(End::violation(format!("a catalogue has at most {MAX_OFFERS} offers")));
        }
        // Only now: decoded, an offer takes hundreds of bytes, and it may have come as two.
        let offers = hello.offers.into_iter().map(wire::Offer::decode);
        offers.collect::<Result<_, _>>().map_err(|_| End::violation("an offer that cannot be decoded"))
    }

    fn read(hello: &wire::Hello) -> Result<Self, End> {
        if hello.protocol != PROTOCOL {
            return Err(End::UnknownProtocol(hello.protocol));
        }
        for (name, id) in [("instance", &hello.instance), ("catalogue_id", &hello.catalogue_id)] {
            if !(1..=MAX_ID).contains(&id.len()) || !id.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(End::violation(format!(
                    "`{name}` must be 1 to {MAX_ID} visible ASCII characters"
                )));
            }
        }
        if hello.sdk.chars().count() > MAX_ID {
            return Err(End::violation(format!("`sdk` must have at most {MAX_ID} characters")));
        }
        if hello.program.len() > MAX_PROGRAM || hello.program.contains(char::is_control) {
            return Err(End::violation(format!(
                "`program` must have at most {MAX_PROGRAM} bytes and no control characters"
            )));
        }
        Ok(Self {
            provider: hello.provider.clone(),
            instance: InstanceId::from(hello.instance.as_str()),
            sdk: hello.sdk.clone(),
            catalogue: CatalogueId::from(hello.catalogue_id.as_str()),
            program: hello.program.clone(),
        })
    }
}
