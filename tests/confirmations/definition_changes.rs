//! What a confirmation says of the definition of its tool, if that has changed since the call was made.

use std::{fs, time::Duration};

use toolwire::{
    base::clock,
    config::ToolPattern,
    contract::proto::v1::{DefinitionChange, ListConfirmationsRequest},
};

use super::*;
use crate::support::state;

/// A server with a tool that must be approved, by alex. Olga sees that it was called.
fn house() -> House {
    let house = House::with(|config| {
        config.auth = records_of_others::olga_may("'observe'");
        // A test sets the clock of the state ahead, and the server looks for expired ones each second.
        config.confirmations.expire_in = Duration::from_hours(12);
    });
    let manifest = json!({
        "name": "add_payment", "description": "Pays.", "type": "non_function_tool", "category": "write",
        "consequence_level": "low", "requires_confirmation": true,
        "parameters": {"amount": {"type": "number", "maximum": 100}, "to": "string"},
    });
    save(&house.data.path().join("tools/add_payment.json"), &manifest.to_string());
    house.server.app.refresh();
    house
}

async fn asks(person: &Person) -> String {
    let call = call("add_payment", &json!({"amount": 5}), Some(RequestId::generate()));
    confirmation(person.call(call).await).confirmation_id
}

/// Pointer, before and after of the changes that a person is shown.
async fn changes(person: &Person, id: &str) -> Vec<[String; 3]> {
    let shown = person.get(id).await.unwrap();
    assert_eq!(shown.definition_changes_left_out, 0);
    let parts = |it: DefinitionChange| {
        assert!(!it.excerpt, "{it:?}");
        [it.pointer, it.before_json, it.after_json]
    };
    shown.definition_changes.into_iter().map(parts).collect()
}

#[tokio::test]
async fn a_changed_definition_is_shown_part_by_part_to_who_reads_the_call() {
    let house = house();
    let (riley, alex, olga) =
        (house.person("riley").await, house.person("alex").await, house.person("olga").await);
    let id = asks(&riley).await;
    assert_eq!(changes(&alex, &id).await, Vec::<[String; 3]>::new());

    let description = "Pays twice.\u{202e}<img src=x onerror=alert(1)>";
    let parameters = json!({"amount": {"type": "number", "maximum": 9_000}, "note": "string"});
    house.patch("add_payment", &json!({"description": description, "parameters": parameters}));
    let shown = changes(&alex, &id).await;
    let find = |pointer: &str| {
        let change =
            shown.iter().find(|it| it[0] == pointer).unwrap_or_else(|| panic!("{pointer}: {shown:?}"));
        [&change[1], &change[2]].map(|text| serde_json::from_str(text).unwrap_or(Value::Null))
    };
    assert_eq!(shown[0][0], "/description", "the outermost first");
    assert_eq!(find("/description"), [json!("Pays."), json!(description)]);
    assert_eq!(find("/input_schema/properties/amount/maximum"), [json!(100), json!(9_000)]);
    let [before, after] = find("/input_schema/properties/to");
    assert!(before.is_object() && after.is_null(), "{before} {after}");
    let [before, after] = find("/input_schema/properties/note");
    assert!(before.is_null() && after.is_object(), "{before} {after}");
    assert_eq!(shown.len(), 4, "{shown:?}");
    assert_eq!(changes(&riley, &id).await, shown, "who called sees the same");
    assert_eq!(changes(&olga, &id).await, Vec::<[String; 3]>::new(), "who does not see the arguments");
    let request = alex.request(ListConfirmationsRequest::default());
    let listed = alex.confirmations.clone().list_confirmations(request).await.unwrap().into_inner();
    let listed = listed.confirmations;
    assert!(listed.len() == 1 && listed[0].definition_changes.is_empty(), "lists have none: {listed:?}");

    let file = house.data.path().join("tools/add_payment.json");
    fs::remove_file(&file).unwrap();
    house.server.app.refresh();
    let gone = changes(&alex, &id).await;
    let [[pointer, before, after]] = &gone[..] else { panic!("{gone:?}") };
    let before: Value = serde_json::from_str(before).unwrap();
    assert_eq!((&**pointer, &**after, &before["description"]), ("", "", &json!("Pays.")));
    alex.deny(&id).await.unwrap();
    assert_eq!(changes(&alex, &id).await, Vec::<[String; 3]>::new(), "it has ended");
}

/// It has the present definition, too.
#[tokio::test]
async fn who_may_not_call_the_tool_any_more_is_not_shown_what_it_is_now() {
    let house = house();
    let (riley, alex) = (house.person("riley").await, house.person("alex").await);
    let id = asks(&riley).await;
    house.patch("add_payment", &json!({"description": "Pays twice."}));
    assert_eq!(changes(&riley, &id).await.len(), 1);
    let mut auth = records_of_others::olga_may("'observe'");
    for user in auth.users.iter_mut().filter(|it| it.user_id.as_str() == "riley") {
        user.tools = vec![ToolPattern::try_from("get_*".to_owned()).unwrap()];
    }
    house.server.app.replace_auth(auth).unwrap();
    assert_eq!(changes(&riley, &id).await, Vec::<[String; 3]>::new());
    assert_eq!(changes(&alex, &id).await.len(), 1);
}

/// Each is stored once, for as long as an open confirmation is bound to it.
#[tokio::test]
async fn definitions_are_deleted_once_no_open_confirmation_is_bound_to_them() {
    let house = house();
    let (riley, alex) = (house.person("riley").await, house.person("alex").await);
    let store = &house.server.app.state;
    let stored = async || state::row::<i64>(store, "SELECT count(*) FROM definitions").await;
    let sweep = async || {
        let now = clock::wall();
        store.at_time(now + Duration::from_hours(2)).sweep_confirmations().await.unwrap();
        store.at_time(now);
        stored().await
    };
    let (first, second) = (asks(&riley).await, asks(&riley).await);
    assert_eq!(stored().await, 1, "of two calls of one definition");
    house.patch("add_payment", &json!({"description": "Pays twice."}));
    let of_new = asks(&riley).await;
    assert_eq!(stored().await, 2);
    alex.deny(&first).await.unwrap();
    assert_eq!(sweep().await, 2, "one is bound to it");
    assert_eq!(changes(&alex, &second).await[0][0], "/description");
    alex.deny(&second).await.unwrap();
    assert_eq!(stored().await, 2, "another transaction may be about to refer to it");
    assert_eq!(sweep().await, 1);
    alex.deny(&of_new).await.unwrap();
    assert_eq!(sweep().await, 0);
    // A deleted one is stored again.
    let again = asks(&riley).await;
    house.patch("add_payment", &json!({"description": "Pays."}));
    assert_eq!(changes(&alex, &again).await, [["/description", "\"Pays twice.\"", "\"Pays.\""]]);
}
