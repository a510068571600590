//! The face: a `ServerHandler` of rmcp over the generated gRPC clients; the tools of its own process it calls without
//! messages.

mod accepted_types;
mod approval_words;
mod call;
mod call_facts;
mod cancellations;
mod carry_out;
mod confirmation_mode;
mod form;
mod handler;
mod handler_context;
pub mod http;
mod invalid_message;
mod known_tools;
mod listen;
mod listing;
mod media;
mod outcome;
mod plain_call;
mod progress;
mod request;
mod search;
mod search_tools;
mod services;
mod settings;
mod state;
pub mod stdio;
mod task_permits;
mod tasks;

pub use cancellations::Cancellations;
pub use form::MCP_FORM;
pub use handler::Handler;
pub use request::Invocation;
pub use services::{CallEvents, Detached, LocalCalls, LocalEnd, Services, Via};
pub use settings::{Confirmations, Settings, ToolMode, Transport};
pub use state::{MIN_KEY_BYTES, StateCodec};
