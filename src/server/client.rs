//! The client side of a command: the transport of its requests, their identity, and refusals in words.
//!
//! Not here: the flags that name the server (`toolwire-cli`), and the requests.

mod probe;
mod reach;
mod refusal;
mod server;
mod server_url;
mod sign_in;
mod tls;
mod token_source;

pub use refusal::{BEGIN_TASK, NEEDS_TASK, refusal, refusal_as_json, refusal_or_lost};
pub use server::{Credentials, Server};
pub use server_url::{InvalidUrl, ServerUrl};
pub use token_source::TokenSource;
