//! A number that would be rounded is the same mistake through every face, at its pointer; and so is what a text is read
//! as.

use serde_json::{Value, json};

use super::{NONE, program};
use crate::faces::asked::{Answer, Asked, FACES, Places};

#[tokio::test]
async fn a_number_that_would_be_rounded_is_the_same_mistake_through_every_face() {
    let program = program(NONE).await;
    let places = Places::of(&program);
    let rounded = [
        (r#"{"value": 18446744073709551616}"#, "/value"),
        (r#"{"value": "a", "more": [1, {"wei": 1000000000000000000000001}]}"#, "/more/1/wei"),
        (r#"{"value": -9223372036854775809}"#, "/value"),
        (r#"{"value": 149.99000000000000001}"#, "/value"),
        (r#"{"value": 9007199254740993.0}"#, "/value"),
        (r#"{"a/b": {"~": 1e-400}}"#, "/a~1b/~0"),
    ];
    for (at, (text, pointer)) in rounded.into_iter().enumerate() {
        let mut first: Option<Answer> = None;
        for face in FACES {
            let answer = face.ask(&places, &Asked::of_model_text("debug_write", text, face, at)).await;
            let Answer::Error(error) = &answer else { panic!("{face:?} {text}: {answer:?}") };
            let violations = &error.field_violations;
            assert_eq!(answer.code(), Some("INVALID_ARGUMENT"), "{face:?} {text}");
            let found: Vec<_> = violations.iter().map(|it| (it.pointer.as_str(), it.rule.as_str())).collect();
            assert_eq!(found, [(pointer, "exact")], "{face:?} {text}: {error:?}");
            match &first {
                None => first = Some(answer),
                Some(first) => assert_eq!(*first, answer, "{face:?} {text}"),
            }
        }
    }
}

#[tokio::test]
async fn a_text_in_place_of_a_value_is_the_same_through_every_face() {
    let program = program(NONE).await;
    let places = Places::of(&program);
    for (at, (tool, arguments, code)) in [
        ("debug_stream", json!({"count": "2", "bytes": "8.0"}), None),
        ("debug_stream", json!({"count": "two"}), Some("INVALID_ARGUMENT")),
        ("debug_stream", json!({"count": "2.5"}), Some("INVALID_ARGUMENT")),
        ("debug_stream", json!({"count": 1e30}), Some("INVALID_ARGUMENT")),
        ("debug_write", json!({"value": "5"}), None),
    ]
    .into_iter()
    .enumerate()
    {
        let mut first: Option<(Answer, Value)> = None;
        for face in FACES {
            let answer = face.ask(&places, &Asked::new(tool, &arguments, face, at)).await;
            assert_eq!(answer.code(), code, "{face:?} {tool} {arguments}: {answer:?}");
            let answer = (answer.without_its_own(), arguments.clone());
            match &first {
                None => first = Some(answer),
                Some(first) => assert_eq!(*first, answer, "{face:?}"),
            }
        }
    }
}
