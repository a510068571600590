//! The users that bearer tokens of identity providers prove: JSON Web Tokens of configured issuers, verified by the
//! keys that the issuer publishes; and the workloads that certificates name by SPIFFE ids.
//!
//! The signatures are ring's, and the rest of JWS is `jws.rs`: the crate `jsonwebtoken` would add two crates and a
//! provider for the whole process, under which the same calls of ring stand, and it reads the clock of the system,
//! ignores the life of a token and gives one error for several reasons.
//!
//! Internal to Toolwire: no promise is made to other crates. Not here: what a user may do, opaque tokens, and lists of
//! revoked tokens.

mod algorithm;
mod claims;
mod fetch;
mod forwarding;
mod ids;
mod issuer;
mod issuers;
mod jwk;
mod jws;
mod keys;
mod peer;
mod principal;
mod refusal;
mod resource;
mod spiffe;
mod token_cache;

pub use self::{
    algorithm::Algorithm,
    fetch::{AddressError, check_address, check_file},
    forwarding::forwarded_workload,
    ids::{group_id, user_id, written_group_id, written_user_id},
    issuer::{ClaimPath, InvalidClaimPath, Issuer, KeySource},
    issuers::{Clock, Issuers, Verifying},
    peer::{PeerRefusal, Workload, workload_of},
    principal::Principal,
    refusal::{Quoted, Refusal},
    resource::Resource,
    spiffe::{InvalidSpiffeId, SpiffeId, SpiffePattern},
};

#[cfg(test)]
mod tests;
