//! The toolset of a request, which its path or its query may name: brought into the header that names it over gRPC.
//! Not here: whether there is such a toolset.

use http::{HeaderValue, Uri, request::Parts, uri::PathAndQuery};
use url::form_urlencoded;

use super::table::RouteMatch;
use crate::service::request::refuse;
use toolwire_contract::Refusal;
use toolwire_transport::{rules::Access, toolset::HEADER};

/// The parameter of the query.
const PARAMETER: &str = "toolset";
/// The end of the path of a route that is for one toolset.
const IN_PATH: &str = "/{toolset}";

/// Moves the toolset from the path and the query into the header. A request that names two is refused by its user's
/// rights, as one with two headers is.
pub(super) fn to_header(parts: &mut Parts, found: &RouteMatch) -> Result<(), Refusal> {
    if found.template.ends_with(IN_PATH)
        && let Some((_, name)) = parts.uri.path().rsplit_once('/')
    {
        let name = name.to_owned();
        add(parts, &name)?;
    }
    // A page that anybody may read narrows nothing.
    let query = parts.uri.query().filter(|query| query.contains(PARAMETER));
    let Some(query) = query.filter(|_| found.rule.access == Access::User) else { return Ok(()) };
    let (own, rest): (Vec<_>, Vec<_>) = query.split('&').partition(|pair| value_of(pair).is_some());
    let names: Vec<_> = own.iter().filter_map(|pair| value_of(pair)).collect();
    if names.is_empty() {
        return Ok(());
    }
    if let Some(uri) = with_query(&parts.uri, &rest.join("&")) {
        parts.uri = uri;
    }
    names.iter().try_for_each(|name| add(parts, name))
}

/// Adds the name, unless the header has it already.
fn add(parts: &mut Parts, name: &str) -> Result<(), Refusal> {
    let value = HeaderValue::try_from(name)
        .map_err(|_| refuse(PARAMETER, "format", "must be the name of a toolset, of a-z, 0-9, _ and -"))?;
    if parts.headers.get_all(HEADER).iter().all(|other| *other != value) {
        parts.headers.append(HEADER, value);
    }
    Ok(())
}

/// The value of a pair, if it names a toolset.
fn value_of(pair: &str) -> Option<String> {
    let (name, value) = form_urlencoded::parse(pair.as_bytes()).next()?;
    (name == PARAMETER).then(|| value.into_owned())
}

fn with_query(uri: &Uri, query: &str) -> Option<Uri> {
    let whole = if query.is_empty() { uri.path().to_owned() } else { format!("{}?{query}", uri.path()) };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(whole).ok()?);
    Uri::from_parts(parts).ok()
}
