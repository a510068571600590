//! The command by which a person signs in, added to a refusal that asks for credentials or for more scope.

use http::{HeaderMap, HeaderName, HeaderValue, Response};
use tonic::{Code, Status};
use tonic_types::StatusExt;

use toolwire_contract::status::{INSUFFICIENT_SCOPE, sign_in};

const COMMAND: HeaderName = HeaderName::from_static(sign_in::COMMAND);

/// Adds the command to a refusal; what a server says under this name counts nothing.
pub(super) fn add_to<B>(mut response: Response<B>, login: Option<&str>) -> Response<B> {
    let headers = response.headers_mut();
    headers.remove(COMMAND);
    if let Some(value) = login.and_then(|login| command(headers, login)) {
        headers.insert(COMMAND, value);
    }
    response
}

fn command(headers: &HeaderMap, login: &str) -> Option<HeaderValue> {
    if !headers.contains_key("grpc-status") {
        return None;
    }
    let status = Status::from_header_map(headers)?;
    let command = match status.code() {
        Code::Unauthenticated => login.to_owned(),
        Code::PermissionDenied => format!("{login} --scope \"{}\"", scope(&status)?),
        _ => return None,
    };
    command.try_into().ok()
}

/// The scopes to request, unless a shell would read more in them than words.
fn scope(status: &Status) -> Option<String> {
    let info = status.get_details_error_info().filter(|info| info.reason == INSUFFICIENT_SCOPE)?;
    let scope = info.metadata.get("scope")?;
    let is_plain = |it: char| it.is_ascii_alphanumeric() || " :/._-".contains(it);
    scope.chars().all(is_plain).then(|| scope.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolwire_contract::{Refusal, status};

    /// The command of a refusal as it arrives at a client, where the server says `claimed` itself.
    fn said(refusal: Status, claimed: Option<&'static str>) -> Option<String> {
        let mut response = refusal.into_http::<()>();
        if let Some(claimed) = claimed {
            response.headers_mut().insert(COMMAND, HeaderValue::from_static(claimed));
        }
        let response = add_to(response, Some("toolwire login https://tools.example/mcp"));
        sign_in::of(&Status::from_header_map(response.headers()).unwrap()).map(str::to_owned)
    }

    #[test]
    fn a_refusal_names_the_command_and_the_scopes_and_nothing_that_a_server_says() {
        let login = "toolwire login https://tools.example/mcp";
        let missing = || status::plain(Code::Unauthenticated, "CREDENTIALS_MISSING", "no token");
        assert_eq!(said(missing(), None).as_deref(), Some(login));
        assert_eq!(said(missing(), Some("rm -rf")).as_deref(), Some(login));
        assert_eq!(said(status::plain(Code::NotFound, "UNKNOWN_TOOL", "none"), Some("rm -rf")), None);
        let of_scope = |scope: &str| {
            said(Refusal::InsufficientScope { tool: "pay".into(), scope: scope.into() }.into(), None)
        };
        assert_eq!(of_scope("tools pay"), Some(format!("{login} --scope \"tools pay\"")));
        for other in ["$(id)", "`id`", "a\";id", "a\nb"] {
            assert_eq!(of_scope(other), None, "{other}");
        }
        assert_eq!(said(Refusal::PermissionDenied { tool: "pay".into() }.into(), None), None);
    }
}
