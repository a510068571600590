//! What the server configures of the face.

use std::collections::BTreeSet;

use super::state::StateCodec;

#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Maximum number of tools on a page of a list.
    pub page: usize,
    /// Maximum number of tokens of a result that is not kept for reading on.
    pub max_result_tokens: u32,
}

/// How calls are confirmed.
#[derive(Debug, Default)]
pub struct Confirmations {
    /// Seals what clients carry from round to round.
    pub codec: StateCodec,
    /// The users who may decide in their clients, if the server lets them decide on the call.
    pub in_client: BTreeSet<String>,
    /// The same for the person at the client: over standard input and output, where a client has one person.
    pub decide_here: bool,
}

/// What a client is listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolMode {
    /// All tools that the user may call, in pages.
    #[default]
    List,
    /// Four tools, by which the others are found and called.
    Search,
}

impl ToolMode {
    /// The mode of this name.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "list" => Some(Self::List),
            "search" => Some(Self::Search),
            _ => None,
        }
    }
}

/// How messages are transported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Stateless: only the response to a request reaches its client.
    Http,
    /// Both ways at any time.
    Stdio,
}
