//! Conditions on arguments and hidden ones: every face asks, and refuses, alike.

use std::path::Path;

use serde_json::json;

use super::{Approve, Decision, decide};
use crate::{
    faces::asked::{Asked, FACES, Places},
    support::{data_directory, program::Program, save},
};

#[tokio::test]
async fn a_condition_and_a_hidden_argument_are_the_same_through_every_face() {
    let data = data_directory();
    let pay = json!({
        "name": "pay", "description": "Pays.", "type": "non_function_tool", "category": "write",
        "consequence_level": "low", "requires_confirmation": false,
        "approve_unless": {"amount": {"minimum": 0, "maximum": 100}, "account": {"minLength": 1}},
        "parameters": {
            "amount": "number",
            "account": {"type": "string", "required": true, "bind": "user.id"},
            "mode": {"type": "string", "fixed": "SAFE"},
        },
    });
    save(&data.path().join("tools/pay.json"), &pay.to_string());
    let directory = data.path().to_str().unwrap();
    let program = Program::start(Path::new("."), &["--http=127.0.0.1:0", "--data", directory], &[]).await;
    let places = Places::of(&program);
    for (at, (arguments, code)) in [
        (json!({"amount": 100}), None),
        (json!({"amount": "100"}), None),
        (json!({"amount": 101}), Some("CONFIRMATION_REQUIRED")),
        (json!({"amount": "101"}), Some("CONFIRMATION_REQUIRED")),
        (json!({"amount": -1}), Some("CONFIRMATION_REQUIRED")),
        (json!({"amount": null}), Some("CONFIRMATION_REQUIRED")),
        (json!({}), Some("CONFIRMATION_REQUIRED")),
        (json!({"amount": "NaN"}), Some("INVALID_ARGUMENT")),
        (json!({"amuont": 5}), Some("INVALID_ARGUMENT")),
        (json!({"amount": 5, "account": "sam"}), Some("INVALID_ARGUMENT")),
        (json!({"amount": 5, "mode": "SAFE"}), Some("INVALID_ARGUMENT")),
    ]
    .into_iter()
    .enumerate()
    {
        let mut first = None;
        for face in FACES {
            let asked = Asked::new("pay", &arguments, face, at);
            for _ in 0..2 {
                let answer = face.ask(&places, &asked).await;
                assert_eq!(answer.code(), code, "{face:?} {arguments}: {answer:?}");
                let answer = answer.without_its_own();
                assert_eq!(*first.get_or_insert_with(|| answer.clone()), answer, "{face:?} {arguments}");
            }
        }
    }
    // A yes is a yes by every face.
    for face in FACES {
        let asked = Asked::new("pay", &json!({"amount": 500}), face, 90);
        let before = face.ask(&places, &asked).await;
        let approve = Approve { tool: "pay".to_owned(), reason: String::new() };
        decide(&places, before.confirmation_id().to_owned(), Decision::Approve(approve)).await;
        let answer = face.ask(&places, &asked).await;
        assert_eq!(answer.code(), None, "{face:?}: {answer:?}");
    }
}
