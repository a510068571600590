//! The bearer token of each request, where it changes while a command runs.

use std::fmt::Debug;

use futures_util::future::BoxFuture;
use secrecy::SecretString;
use tonic::Status;

/// What has the token to present.
pub trait TokenSource: Debug + Send + Sync {
    /// The token for a request that is made now, or why there is none any more.
    fn token(&self) -> BoxFuture<'_, Result<SecretString, Status>>;
}
