//! What a command needs to speak to a server, or to the services of its own program: the transport of its requests, who
//! makes them, and a refusal in words.
//!
//! Not here: the flags that name the server (`toolwire-cli`), and what is asked of it.

mod probe;
mod refused;
mod server;
mod server_url;
mod tls;

pub use refused::{refused, refused_as_json, refused_or_lost};
pub use server::{Credentials, Server};
pub use server_url::{InvalidUrl, ServerUrl};
