//! The users' Screener.in credentials: taken in and forgotten, per user and session. Never logged: no tool, and so no
//! arguments of one.

use tonic::{Request, Status};

use crate::{
    proto::v1::{ForgetScreenerCredentialsRequest, SetScreenerCredentialsRequest},
    sources::screener::{Credentials, Login, PROFILE},
};
use toolwire_contract::{Refusal, ToolError, Violation, status};
use toolwire_server::{faces::incoming::Caller, service::tasks::Tasks};

/// The longest user name, in characters: that of an e-mail address.
const MAX_USERNAME: usize = 320;
/// The longest password, in characters.
const MAX_PASSWORD: usize = 1024;

/// Keeps the credentials of the user's session. The user's tasks that wait for some go on.
pub(super) async fn set(
    credentials: &Credentials,
    tasks: &Tasks,
    request: Request<SetScreenerCredentialsRequest>,
) -> Result<(), Status> {
    let Caller { user, session_id } = Caller::of(&request)?;
    let login = login(request.into_inner())?;
    credentials.set(&user.id, session_id.as_ref(), login);
    tasks.credentials_given(&user, PROFILE.name).await?;
    Ok(())
}

pub(super) fn forget(
    credentials: &Credentials,
    request: &Request<ForgetScreenerCredentialsRequest>,
) -> Result<(), Status> {
    let Caller { user, session_id } = Caller::of(request)?;
    if credentials.forget(&user.id, session_id.as_ref()) {
        return Ok(());
    }
    let none =
        ToolError::not_found("There are no Screener.in credentials of this user and session to forget.");
    Err(status::of_tool_error(&none))
}

fn login(message: SetScreenerCredentialsRequest) -> Result<Login, Refusal> {
    let SetScreenerCredentialsRequest { username, password } = message;
    let violations: Vec<_> =
        [violation("username", &username, MAX_USERNAME), violation("password", &password, MAX_PASSWORD)]
            .into_iter()
            .flatten()
            .collect();
    if violations.is_empty() {
        Ok(Login::new(username, password))
    } else {
        Err(Refusal::InvalidRequest(violations))
    }
}

/// What is wrong with a text, without a word of it.
fn violation(field: &str, text: &str, max: usize) -> Option<Violation> {
    let (rule, description) = match text.chars().count() {
        0 => ("required", format!("{field} must not be empty")),
        length if length > max => ("max_length", format!("{field} must have at most {max} characters")),
        _ => return None,
    };
    Some(Violation { pointer: field.to_owned(), rule: rule.to_owned(), description })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(username: &str, password: &str) -> Vec<String> {
        let (username, password) = (username.to_owned(), password.to_owned());
        match login(SetScreenerCredentialsRequest { username, password }) {
            Err(Refusal::InvalidRequest(violations)) => {
                violations.into_iter().map(|it| format!("{} {}", it.pointer, it.rule)).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once() {
        assert_eq!(refused("", ""), ["username required", "password required"]);
        let (long_name, long_word) = ("x".repeat(MAX_USERNAME + 1), "x".repeat(MAX_PASSWORD + 1));
        assert_eq!(refused(&long_name, &long_word), ["username max_length", "password max_length"]);
        assert_eq!(refused("riley", &long_word), ["password max_length"]);
    }

    #[test]
    fn a_request_is_shown_without_what_it_holds() {
        let request = SetScreenerCredentialsRequest {
            username: "riley@example.com".to_owned(),
            password: "s3cret-word".to_owned(),
        };
        let shown = format!("{request:?} {request:#?}");
        assert!(!shown.contains("s3cret") && !shown.contains("riley"), "{shown}");
        let shown = format!("{:?}", login(request).unwrap());
        assert!(!shown.contains("s3cret") && !shown.contains("riley"), "{shown}");
    }
}
