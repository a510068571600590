//! A right that is withdrawn while a call waits for a person: the call is refused, and nothing is done.

use tonic::Streaming;
use toolwire::{
    config::{Flags, testing},
    contract::proto::v1::InvokeToolResponse,
};

use super::*;
use crate::http::issuers::{Issuer, RULES};

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

#[tokio::test]
async fn a_call_that_waits_is_refused_once_its_issuer_is_another() {
    let issuer = Issuer::start().await;
    let of_issuer = issuer.configured(RULES).auth;
    let auth = Auth { issuers: of_issuer.issuers, rules: of_issuer.rules, ..users() };
    let house = House::with(|config| config.auth = auth.clone());
    let alex = house.person("alex").await;
    let replace = |change: &dyn Fn(&mut Auth)| {
        let mut changed = auth.clone();
        change(&mut changed);
        house.server.app.replace_auth(changed).unwrap();
    };
    let changes: [&dyn Fn(&mut Auth); 2] =
        [&|it| it.issuers[0].issuer = "https://login.example".to_owned(), &|it| {
            it.issuers[0].tokens.audience = vec!["else".to_owned()];
        }];
    for change in changes {
        replace(&|_| ());
        let mut request = Request::new(waiting("debug_confirm", RequestId::generate(), "x", 60));
        let token = issuer.token("8f2c", &["support"], &[]);
        let token = token.strip_prefix("authorization: ").unwrap().parse().unwrap();
        request.metadata_mut().insert("authorization", token);
        let mut stream = alex.tools.clone().invoke_tool(request).await.unwrap().into_inner();
        let asked = loop {
            if let Event::AwaitingConfirmation(asked) = next(&mut stream).await.unwrap() {
                break asked;
            }
        };
        replace(&|it| it.issuers[0].tokens.audience.push("more".to_owned()));
        assert_eq!(alex.state(&asked.confirmation_id).await, ConfirmationState::Pending);
        replace(change);
        assert_refused(next(&mut stream).await, Code::PermissionDenied, "TOOL_NOT_ALLOWED");
    }
}

/// Nobody decides on what a leaver asked for.
#[tokio::test]
async fn what_waits_of_a_user_whom_a_rule_shuts_out_is_withdrawn() {
    let house = House::with_users();
    let (riley, alex) = (house.person("riley").await, house.person("alex").await);
    let of_alex = alex.asks(RequestId::generate(), "x").await;
    let left = riley.asks(RequestId::generate(), "x").await;
    let request = riley.request(waiting("debug_confirm", RequestId::generate(), "y", 60));
    let mut stream = riley.tools.clone().invoke_tool(request).await.unwrap().into_inner();
    let waits = loop {
        if let Event::AwaitingConfirmation(asked) = next(&mut stream).await.unwrap() {
            break asked;
        }
    };
    let rule = "[[auth.users]]\nuser_id = 'riley'\ntoken = 'riley-0123456789abcdef'\n\
                [[auth.rules]]\nwho = ['user:riley']\ntools = ['*']\neffect = 'deny'\n";
    let rules = testing::load_text(rule, &[], Flags::default(), &[]).unwrap().config.auth.rules;
    house.server.app.replace_auth(Auth { rules, ..users() }).unwrap();
    for asked in [&left, &waits] {
        let message = GetConfirmationRequest {
            confirmation_id: asked.confirmation_id.clone(),
            wait: Some(prost_types::Duration { seconds: 30, nanos: 0 }),
        };
        let answer = alex.confirmations.clone().get_confirmation(alex.request(message)).await.unwrap();
        let confirmation = answer.into_inner().confirmation.unwrap();
        assert_eq!(confirmation.state(), ConfirmationState::Withdrawn);
        let late = alex.approve(&asked.confirmation_id).await.unwrap_err();
        assert!(late.message().contains("withdrawn"), "{late:?}");
    }
    assert_eq!(alex.state(&of_alex.confirmation_id).await, ConfirmationState::Pending);
    // Whichever comes first: the right is gone, or the confirmation is.
    loop {
        match next(&mut stream).await {
            Err(status) => break assert_eq!(status.code(), Code::PermissionDenied, "{status:?}"),
            Ok(Event::Result(result)) => {
                let Came::Error(code, _) = came(result.outcome) else { panic!("nothing is done") };
                break assert_eq!(code, ToolErrorCode::Cancelled);
            }
            Ok(_) => {}
        }
    }
    let refused = riley.get(&left.confirmation_id).await;
    assert_refused(refused, Code::Unauthenticated, "CREDENTIALS_REJECTED");
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
