//! What is recorded of calls changes with the file.

use super::*;

#[tokio::test]
async fn what_is_recorded_of_calls_is_taken_over_or_refused_with_all_else() {
    let users = file(&[("demo", "*")]);
    let directory = directory(&[("demo", "*")]);
    let mut program = Program::start(directory.path(), &ADMIN, &[]).await;
    write(directory.path(), &format!("{}[calls]\nrecord = 'all'\n", file(&[("demo", "*"), ("sam", "*")])));
    let (line, _) = program.wait_for_log("the settings cannot be used").await;
    assert!(line["error"].as_str().expect("why").contains("calls.keys: must hold a key"), "{line}");
    assert_eq!(sees(&program, "sam", "get_quotes").await, Err(Code::Unauthenticated));
    let key = "planted-key-of-more-than-thirty-two-bytes";
    write(directory.path(), &format!("{users}[calls]\nrecord = 'all'\nkeys = ['{key}']\n"));
    let (line, before) = program.wait_for_log("are those of the settings now").await;
    assert_eq!(line["changes"], "calls.record changed from none to all; calls.keys changed", "{before:?}");
    let tool = "[calls.tools.get_quotes]\nrecord = 'none'\n";
    write(directory.path(), &format!("{users}[calls]\nrecord = 'all'\nkeys = ['{key}']\n{tool}"));
    let (line, before) = program.wait_for_log("are those of the settings now").await;
    assert_eq!(line["changes"], "calls.tools added: get_quotes", "{before:?}");
    let log = format!("{before:?}");
    assert!(!log.contains(key) && !log.contains("next start"), "{log}");
}
