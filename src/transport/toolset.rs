//! The toolset to which a request narrows its user's tools, by a header. The HTTP listener brings the forms of its own,
//! the path and the query, into it.
//!
//! It gives no right, so whatever a caller sends is safe. Yet one that is not known is refused: its caller would take
//! all tools for those few.

use http::{HeaderMap, HeaderName};

use toolwire_base::current::Current;
use toolwire_config::Toolsets;
use toolwire_tool::context::ToolsetName;

pub const NAME: &str = "x-toolwire-toolset";
pub const HEADER: HeaderName = HeaderName::from_static(NAME);

/// The longest name that a refusal repeats, in characters.
const MAX_SHOWN: usize = 64;

/// A request narrows its tools to no toolset that there is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolsetError {
    #[error("there is no toolset {name:?} here; the operator lists them under [toolsets]")]
    Unknown { name: String },
    #[error("name one toolset: in the path, in the query or in x-toolwire-toolset")]
    Several,
}

/// The toolset that a request names.
pub(super) fn read(
    headers: &HeaderMap,
    toolsets: &Current<Toolsets>,
) -> Result<Option<ToolsetName>, ToolsetError> {
    // Nearly all requests name none.
    let Some(first) = headers.get(HEADER) else { return Ok(None) };
    if headers.get_all(HEADER).iter().nth(1).is_some() {
        return Err(ToolsetError::Several);
    }
    let text = String::from_utf8_lossy(first.as_bytes());
    let known = text.parse::<ToolsetName>().ok().filter(|name| toolsets.load().get(name).is_some());
    known.map(Some).ok_or_else(|| ToolsetError::Unknown { name: text.chars().take(MAX_SHOWN).collect() })
}
