//! A right that is withdrawn while a call waits for a person: the call is refused, and nothing is done.

use tonic::Streaming;
use toolwire::contract::proto::v1::InvokeToolResponse;

use super::*;

/// Riley's rights are these tools alone.
fn with_rights(tools: &str) -> Auth {
    let mut auth = users();
    auth.users[0].tools = vec![ToolPattern::try_from(tools.to_owned()).unwrap()];
    auth
}

/// The next event.
async fn next(stream: &mut Streaming<InvokeToolResponse>) -> Result<Event, Status> {
    let message = stream.message().await?.expect("goes on");
    Ok(message.event.and_then(|event| event.event).expect("an event"))
}

#[tokio::test]
async fn a_call_that_waits_is_refused_once_its_user_may_no_longer_make_it() {
    let house = House::with_users();
    let (riley, alex) = (house.person("riley").await, house.person("alex").await);
    let id = RequestId::generate();
    let request = riley.request(waiting("debug_confirm", id, "x", 60));
    let mut stream = riley.tools.clone().invoke_tool(request).await.unwrap().into_inner();
    let asked = loop {
        if let Event::AwaitingConfirmation(asked) = next(&mut stream).await.unwrap() {
            break asked;
        }
    };
    // Who has all that the call takes waits on.
    house.server.app.replace_auth(with_rights("debug_*")).unwrap();
    assert_eq!(alex.state(&asked.confirmation_id).await, ConfirmationState::Pending);
    house.server.app.replace_auth(with_rights("get_*")).unwrap();
    assert_refused(next(&mut stream).await, Code::PermissionDenied, "TOOL_NOT_ALLOWED");

    alex.approve(&asked.confirmation_id).await.unwrap();
    assert_refused(riley.call_confirm(id, "x").await, Code::PermissionDenied, "TOOL_NOT_ALLOWED");
    // With the right given back it is the first that is done.
    house.server.app.replace_auth(users()).unwrap();
    assert_eq!(data(riley.call_confirm(id, "x").await)["writes"], 1);
}

/// However a decision and a withdrawal fall together, no call is carried out after the right is gone.
#[tokio::test]
async fn of_an_approval_and_a_withdrawal_before_it_the_withdrawal_counts() {
    let house = House::with_users();
    let (riley, alex) = (house.person("riley").await, house.person("alex").await);
    for round in 0..20 {
        house.server.app.replace_auth(users()).unwrap();
        let (id, value) = (RequestId::generate(), format!("round {round}"));
        let request = riley.request(waiting("debug_confirm", id, &value, 60));
        let mut stream = riley.tools.clone().invoke_tool(request).await.unwrap().into_inner();
        let asked = loop {
            if let Event::AwaitingConfirmation(asked) = next(&mut stream).await.unwrap() {
                break asked;
            }
        };
        house.server.app.replace_auth(with_rights("get_*")).unwrap();
        alex.approve(&asked.confirmation_id).await.unwrap();
        assert_refused(next(&mut stream).await, Code::PermissionDenied, "TOOL_NOT_ALLOWED");
        assert_eq!(alex.state(&asked.confirmation_id).await, ConfirmationState::Approved, "not used");
    }
}
