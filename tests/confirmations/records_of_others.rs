//! What those who observe read of other users' calls: that they were made, and with one right more what they were.

use toolwire::{
    config::{Flags, testing},
    contract::proto::v1::{GetCallRequest, GetCallResponse, get_call_request},
};

use super::*;

/// The users, of whom olga observes by a rule, with these rights.
pub(super) fn olga_may(rights: &str) -> Auth {
    let entry = |name: &str| {
        let approve = if name == "alex" { "approve = ['*']\n" } else { "" };
        format!("[[auth.users]]\nuser_id = '{name}'\ntoken = '{}'\n{approve}", token(name))
    };
    let rule = format!("[[auth.rules]]\nwho = ['user:olga']\ntools = ['*']\nmay = [{rights}]\n");
    let file = USERS.map(entry).concat() + &rule;
    testing::load_text(&file, &[], Flags::default(), &[]).unwrap().config.auth
}

async fn get(person: &Person, id: RequestId, call_id: &str) -> Result<GetCallResponse, Status> {
    let call = if call_id.is_empty() {
        get_call_request::Call::RequestId(id.to_string())
    } else {
        get_call_request::Call::CallId(call_id.to_owned())
    };
    let request = person.request(GetCallRequest { call: Some(call), ..GetCallRequest::default() });
    Ok(person.tools.clone().get_call(request).await?.into_inner())
}

#[tokio::test]
async fn an_observer_sees_that_a_call_was_made_and_reads_it_only_by_right() {
    let house = House::with(|config| config.auth = olga_may("'observe'"));
    let (riley, alex, olga) =
        (house.person("riley").await, house.person("alex").await, house.person("olga").await);
    let id = RequestId::generate();
    let asked = riley.asks(id, "a secret").await;
    let seen = async |person: &Person| {
        let seen = person.get(&asked.confirmation_id).await.unwrap();
        let call_id = seen.call_id.clone();
        assert_eq!((seen.tool.as_str(), seen.user_id.as_str()), ("debug_confirm", "riley"));
        let waits = get(person, id, &call_id).await.unwrap().confirmation_required;
        let reads =
            [seen.summary.contains("a secret"), seen.arguments_json.contains("a secret"), waits.is_some()];
        assert_eq!(seen.arguments.is_some_and(|it| !it.fields.is_empty()), reads[0]);
        reads
    };
    assert_eq!(seen(&riley).await, [true; 3]);
    assert_eq!(seen(&olga).await, [false; 3]);
    let call_id = riley.get(&asked.confirmation_id).await.unwrap().call_id;
    assert_refused(get(&alex, id, &call_id).await, Code::NotFound, "UNKNOWN_CALL");
    assert!(alex.get(&asked.confirmation_id).await.unwrap().summary.contains("a secret"), "to decide on it");

    alex.approve(&asked.confirmation_id).await.unwrap();
    data(riley.call_confirm(id, "a secret").await);
    let call_id = get(&riley, id, "").await.unwrap().call.unwrap().call_id;
    let done = get(&olga, id, &call_id).await.unwrap();
    assert!(done.result.is_none() && !done.call.unwrap().result_kept);
    house.server.app.replace_auth(olga_may("'observe', 'read_records'")).unwrap();
    assert_eq!(olga.get(&asked.confirmation_id).await.unwrap().tool, "debug_confirm");
    assert!(get(&olga, id, &call_id).await.unwrap().result.is_some());
    // By itself it shows nothing.
    house.server.app.replace_auth(olga_may("'read_records'")).unwrap();
    assert_refused(get(&olga, id, &call_id).await, Code::NotFound, "UNKNOWN_CALL");
}
