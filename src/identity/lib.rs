//! The users, hosts and workloads that bearer tokens prove: JSON Web Tokens of configured issuers and trust domains,
//! verified by the keys that those publish; and the workloads that certificates name by SPIFFE ids.
//!
//! The signatures are ring's, and the rest of JWS is `jws.rs`: the crate `jsonwebtoken` would add two crates and a
//! provider for the whole process, under which the same calls of ring stand, and it reads the clock of the system,
//! ignores the life of a token and gives one error for several reasons.
//!
//! Internal to Toolwire: no promise is made to other crates. Not here: what a user may do, opaque tokens, and lists of
//! revoked tokens.

mod address;
mod algorithm;
mod claims;
mod fetch;
mod forwarding;
mod ids;
mod issuers;
mod jwk;
mod jws;
mod keys;
mod peer;
mod principal;
mod refusal;
mod resource;
mod signer;
mod spiffe;
mod token_cache;
mod token_settings;

pub use self::{
    address::{AddressError, Origin, check_address},
    algorithm::Algorithm,
    fetch::check_file,
    forwarding::forwarded_workload,
    ids::{group_id, user_id, written_group_id, written_user_id},
    issuers::{Clock, Issuers, Verifying},
    jwk::KeyUse,
    peer::{PeerRefusal, Workload, workload_of},
    principal::{Principal, Subject},
    refusal::{Quoted, Refusal, spiffe_of_provider, spiffe_of_user},
    resource::Resource,
    signer::{ClaimPath, HostClaims, InvalidClaimPath, Issuer, Signer, TrustDomain},
    spiffe::{InvalidSpiffeId, SpiffeId, SpiffePattern, is_trust_domain},
    token_settings::{KeySource, TokenSettings},
};

#[cfg(test)]
mod tests;
