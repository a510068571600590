//! The contract: generated types, the words of results and errors, and every translation between them.
//!
//! What the pipeline and the tools use are the domain types of this crate or the typed payload of one tool; the
//! generated envelope types are met only here and in the faces.

pub mod arguments;
pub mod codec;
pub mod confirmation;
pub mod convert;
pub mod descriptor_set;
pub mod descriptors;
pub mod error;
pub mod frame;
pub mod json;
pub mod near;
pub mod payload;
pub mod proto;
pub mod redaction;
pub mod refusal;
pub mod result;
pub mod sequence;
pub mod status;
pub mod tool_name;
pub mod transcode;

pub use confirmation::{ConfirmationCause, ConfirmationId, ConfirmationRequired, ConsoleLinks};
pub use error::{CREATE_TASK, ErrorCode, Origin, ToolError, Violation};
pub use payload::Payload;
pub use refusal::{Crowding, DocumentRefusal, JobRefusal, Refusal, TaskRefusal, TurnRefusal};
pub use result::{Event, Kept, Outcome, Provenance, Terminal, ToolResult};
pub use tool_name::ToolName;
