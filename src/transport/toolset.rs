//! The toolset to which a request narrows its user's tools, by a header. The HTTP listener brings the forms of its own,
//! the path and the query, into it.
//!
//! It gives no right, so whatever a caller sends is safe. Yet one that is not known is refused: its caller would take
//! all tools for those few.

use http::{HeaderMap, HeaderName};

use super::authenticate::AuthenticationError;
use toolwire_config::Toolsets;
use toolwire_tool::context::ToolsetName;

pub const NAME: &str = "x-toolwire-toolset";
pub const HEADER: HeaderName = HeaderName::from_static(NAME);

/// The toolset that a request names.
pub(super) fn read(
    headers: &HeaderMap,
    toolsets: &Toolsets,
) -> Result<Option<ToolsetName>, AuthenticationError> {
    // Nearly all requests name none.
    let Some(first) = headers.get(HEADER) else { return Ok(None) };
    if headers.get_all(HEADER).iter().nth(1).is_some() {
        return Err(AuthenticationError::SeveralToolsets);
    }
    let text = String::from_utf8_lossy(first.as_bytes());
    let known = text.parse::<ToolsetName>().ok().filter(|name| toolsets.get(name).is_some());
    known
        .map(Some)
        .ok_or_else(|| AuthenticationError::UnknownToolset { name: text.chars().take(64).collect() })
}
