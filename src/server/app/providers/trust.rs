//! Trust on first use: which of the tools that an MCP server lists are as an operator accepted them.

use toolwire_mcp::upstream::ListedTool;
use toolwire_state::accepted_tools::AcceptedTool;

/// Why a tool cannot be called, unless it is as it was accepted.
pub(super) fn check_accepted(
    provider: &str,
    listed: &ListedTool,
    accepted: &[AcceptedTool],
) -> Result<(), String> {
    let what = match accepted.iter().find(|it| it.name == listed.name) {
        Some(it) if it.digest == listed.digest => return Ok(()),
        Some(_) => "what its MCP server says of it has changed since it was accepted",
        None => "its MCP server lists it, and it was not accepted yet",
    };
    Err(format!(
        "{what}: `toolwire providers diff {provider}` shows it, and `toolwire providers accept {provider}` accepts it, \
         both on the server's machine with its --config and --state"
    ))
}

/// A tool to be accepted as it is listed.
pub fn as_accepted(listed: &ListedTool) -> AcceptedTool {
    AcceptedTool { name: listed.name.clone(), digest: listed.digest, text: listed.text.clone() }
}
