//! What a model can write as the arguments of a call means the same through every face: no arguments, or a
//! mistake in the
//! result.

use serde_json::json;

use super::{NONE, program};
use crate::faces::asked::{Answer, Asked, Places, TAKING_TEXT};

#[tokio::test]
async fn nothing_is_no_arguments_through_every_face() {
    let program = program(NONE).await;
    let places = Places::of(&program);
    let none = ["", " ", "\n\t ", "null", " null\n", r#""""#, "{}", "{ }"];
    for (at, text) in none.into_iter().enumerate() {
        for face in TAKING_TEXT {
            let answer = face.ask(&places, &Asked::of_model_text("debug_panic", text, face, at)).await;
            assert_eq!(answer.code(), Some("UNKNOWN"), "{face:?} {text:?}: {answer:?}");
            let answer = face.ask(&places, &Asked::of_model_text("debug_write", text, face, at + 50)).await;
            assert!(matches!(&answer, Answer::Error(error) if error.field_violations[0].rule == "required"));
        }
    }
}

#[tokio::test]
async fn what_is_no_object_is_the_same_mistake_through_every_face() {
    let program = program(NONE).await;
    let places = Places::of(&program);
    let deep = (0..33).fold(json!(1), |inner, _| json!({ "a": inner })).to_string();
    let wrong = [
        (r#"{"value": "tru"#, "json"),
        ("{", "json"),
        (r#"{"value": "\ud83d"}"#, "json"),
        (r#"{"value": "a", "value": "b"}"#, "json"),
        (r#"{"value": "a"} That is my call."#, "json"),
        ("value=a", "json"),
        (r#"[{"value": "a"}]"#, "type"),
        ("42", "type"),
        ("true", "type"),
        (r#""{\"value\": \"a\"}""#, "type"),
        (r#""a""#, "json"),
        (&deep, "depth"),
    ];
    for (at, (text, rule)) in wrong.into_iter().enumerate() {
        let mut first: Option<Answer> = None;
        for face in TAKING_TEXT {
            let answer = face.ask(&places, &Asked::of_model_text("debug_write", text, face, at)).await;
            let Answer::Error(error) = &answer else { panic!("{face:?} {text}: {answer:?}") };
            assert_eq!(answer.code(), Some("INVALID_ARGUMENT"), "{face:?} {text}");
            assert_eq!(
                (error.field_violations.len(), error.field_violations[0].rule.as_str()),
                (1, rule),
                "{text}"
            );
            assert!(error.message.starts_with("Invalid arguments: the arguments must "), "{}", error.message);
            match &first {
                None => first = Some(answer),
                Some(first) => assert_eq!(*first, answer, "{face:?} {text}"),
            }
        }
    }
}

#[tokio::test]
async fn a_tool_that_there_is_not_is_said_before_what_is_wrong_with_its_arguments() {
    let program = program(NONE).await;
    let places = Places::of(&program);
    for face in TAKING_TEXT {
        let answer = face.ask(&places, &Asked::of_model_text("debug_none", "[", face, 0)).await;
        let is_unknown = |message: &str| message.starts_with("Unknown tool: debug_none");
        assert!(
            matches!(&answer, Answer::Refused(_, message) if is_unknown(message)),
            "{face:?}: {answer:?}"
        );
    }
}
