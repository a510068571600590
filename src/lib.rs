//! stub
#![allow(missing_docs)]
pub mod clock;
pub mod faces;
/// Generated.
#[allow(clippy::pedantic, missing_docs, unreachable_pub)]
pub mod v1 {
    tonic::include_proto!("toolwire.v1");
}
