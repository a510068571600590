//! A tool that a user may not call is not listed, not described, not exported and not carried out through any route.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    cases::{Case, Whose, cases},
    world::{MUTE, OWNER, PARTLY, Planted, World, send, words},
};

/// Of AMD.
const PRICE: &str = "148.36";

async fn listed(world: &World, user: &str) -> BTreeSet<String> {
    let answer = send(world.address, Some(user), &Case::of("GET", "/v1/tools")).await;
    let tools: Value = serde_json::from_str(&answer.body).unwrap();
    tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_a_user_may_not_call_is_not_named() {
    let world = World::new();
    let all = listed(&world, OWNER).await;
    for (user, least) in [(PARTLY, 10), (MUTE, 0)] {
        let own = listed(&world, user).await;
        assert!(own.len() >= least && own.iter().all(|name| name.starts_with("get_")), "{own:?}");
        let hidden: Vec<_> = all.difference(&own).map(|name| format!("\"{name}\"")).collect();
        assert!(hidden.len() > 20);
        let mut cases = cases(&Planted::nothing());
        // What is read comes first: whoever tries to call has a refused call of that tool. Last comes the discovery,
        // which tells the steps that it left out by their names.
        cases.sort_by_key(|case| (!case.is_list(), case.path == "/api/discovery"));
        for case in cases {
            if ["/v1/tools", "/openapi.json", "/v1/exports/mcp"].contains(&&*case.path) {
                let owners = words(&send(world.address, Some(OWNER), &case).await);
                assert!(
                    hidden.iter().any(|name| owners.contains(name)),
                    "{} names those to whoever may",
                    case.route
                );
            }
            let answer = send(world.address, Some(user), &case).await;
            for name in hidden.iter().filter(|name| !case.says(name.trim_matches('"'))) {
                let text = words(&answer);
                assert!(!text.contains(name.as_str()), "{} names {name} to {user}: {text}", case.route);
            }
        }
    }
}

#[tokio::test]
async fn what_a_user_may_not_call_is_not_carried_out() {
    let world = World::new();
    let cases = cases(&Planted::nothing());
    let mut carried_out = 0;
    for case in cases.iter().filter(|case| matches!(case.whose, Whose::Calls | Whose::Turns)) {
        let own = send(world.address, Some(OWNER), case).await;
        assert_eq!(own.status, 200, "{}: {own:?}", case.route);
        let answer = send(world.address, Some(MUTE), case).await;
        if case.whose == Whose::Calls {
            // An intent of tools that are hidden is as unknown as any other.
            let is_intent = case.path.starts_with("/v1/intents/");
            let expected = if is_intent { (404, "UNKNOWN_INTENT") } else { (403, "TOOL_NOT_ALLOWED") };
            assert_eq!((answer.status, answer.code().as_str()), expected, "{}", case.route);
        } else {
            assert!(answer.status < 300 && !answer.body.contains(PRICE), "{}: {answer:?}", case.route);
            carried_out += usize::from(own.body.contains(PRICE));
        }
    }
    assert!(carried_out >= 3, "{carried_out} turns tell what they called");
    // Whoever may call nothing has made no call.
    let calls = send(world.address, Some(MUTE), &Case::of("GET", "/v1/calls")).await;
    let calls: Value = serde_json::from_str(&calls.body).unwrap();
    assert!(calls["calls"].as_array().unwrap().iter().all(|it| it["state"] != "SUCCEEDED"), "{calls}");
}
