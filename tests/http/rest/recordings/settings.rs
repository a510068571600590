//! Which calls are recorded: by the settings and the manifest, as they are put into force, and with which keys.

use toolwire::{config::Calls, domains, server::app::App};

use super::*;

#[tokio::test]
async fn what_is_not_recorded_says_how_to_record_it() {
    let house = house(&format!("{}[calls.tools.get_facts]\nrecord = 'none'\n", recording("arguments")));
    let id = call(&house, "get_quotes", &json!({"symbol": "AMD"})).await;
    let found = recorded(&house, "riley", &id).await;
    assert!(found.get("result").is_none(), "{found}");
    assert!(found["recording"]["note"].as_str().unwrap().contains("record = \"all\""), "{found}");
    let id = call(&house, "get_facts", &json!({"topic": "etf"})).await;
    let note = note(&house, "riley", &id).await;
    assert!(note.contains("[calls.tools.get_facts]") && note.contains("[calls] keys"), "{note}");
}

#[tokio::test]
async fn a_manifest_narrows_what_is_recorded_and_does_not_widen_it() {
    let house = house(&recording("all"));
    let given = json!({"symbol": "AMD"});
    house.patch("get_quotes", &json!({"record": "arguments"}));
    let id = call(&house, "get_quotes", &given).await;
    let found = recorded(&house, "riley", &id).await;
    assert!(found["recording"]["arguments"].is_object() && found.get("result").is_none(), "{found}");
    house.patch("get_quotes", &json!({"record": "none"}));
    let id = call(&house, "get_quotes", &given).await;
    assert!(note(&house, "riley", &id).await.contains("the manifest of get_quotes"));
    house.patch("get_quotes", &json!({"record": "all"}));
    replace(&house, &recording("arguments"));
    let id = call(&house, "get_quotes", &given).await;
    assert!(recorded(&house, "riley", &id).await.get("result").is_none());
    // A word that is none of them is a problem of the file, and the manifest before stays in force.
    house.patch("get_quotes", &json!({"record": "everything"}));
    let id = call(&house, "get_quotes", &given).await;
    recorded(&house, "riley", &id).await;
}

#[tokio::test]
async fn settings_that_are_read_again_change_what_is_recorded() {
    let house = house("");
    let given = json!({"symbol": "AMD"});
    let before = call(&house, "get_quotes", &given).await;
    assert_eq!(
        replace(&house, &recording("all")),
        ["calls.record changed from none to all", "calls.keys changed"]
    );
    let id = call(&house, "get_quotes", &given).await;
    recorded(&house, "riley", &id).await;
    assert!(note(&house, "riley", &before).await.contains("24 h"));
    // What is recorded stays readable as long as its key is there.
    replace(&house, &format!("[calls]\nkeys = ['{OTHER_KEY}', '{KEY}']\n"));
    recorded(&house, "riley", &id).await;
    let after = call(&house, "get_quotes", &given).await;
    assert!(note(&house, "riley", &after).await.contains("[calls] record"));
}

#[tokio::test]
async fn what_no_key_opens_is_said_to_be_unreadable() {
    let house = house(&recording("all"));
    let id = call(&house, "get_quotes", &json!({"symbol": "AMD"})).await;
    recorded(&house, "riley", &id).await;
    for keys in [format!("keys = ['{OTHER_KEY}']"), String::new()] {
        replace(&house, &format!("[calls]\n{keys}\n"));
        for user in ["riley", "rita"] {
            assert!(note(&house, user, &id).await.contains("cannot be read"), "{keys}");
        }
    }
}

#[tokio::test]
async fn without_a_key_recording_is_refused_at_start() {
    let state = tempfile::tempdir().unwrap();
    let mut config = config(&recording("all"));
    config.state.dir = Some(state.path().to_owned());
    config.calls = Calls { keys: Vec::new(), ..config.calls };
    let error = App::build(&config, &domains::bundled()).unwrap_err().to_string();
    assert!(
        error.contains("calls.keys holds no key") && error.contains("openssl rand -base64 32"),
        "{error}"
    );
}

#[tokio::test]
async fn what_was_recorded_is_there_after_a_restart() {
    let state = tempfile::tempdir().unwrap();
    let settings = config(&recording("all"));
    let keep_state = |config: &mut Config| {
        config.auth = settings.auth.clone();
        config.calls = settings.calls.clone();
        config.state.dir = Some(state.path().to_owned());
    };
    let house = House::with(keep_state);
    let id = call(&house, "remove_from_watchlist", &json!({"symbol": "TCS"})).await;
    // Nothing has asked for it, so that only the end of the server has it written.
    house.server.shut_down().await;
    let house = House::with(keep_state);
    let found = recorded(&house, "riley", &id).await;
    assert_eq!(found["recording"]["arguments"]["symbol"], "TCS", "{found}");
    assert_eq!(found["recording"]["note"], "", "{found}");
}
