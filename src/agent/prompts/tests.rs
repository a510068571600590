//! Prompts: what is built in, what is read from disk, and what is refused.

use std::fs;

use super::{template::LONGEST, *};

fn disk(files: &[(&str, &str)]) -> (tempfile::TempDir, Tree) {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("prompts")).unwrap();
    for (name, text) in files {
        fs::write(directory.path().join("prompts").join(name), text).unwrap();
    }
    let tree = Tree::Disk(directory.path().to_owned());
    (directory, tree)
}

#[test]
fn those_that_are_built_in_say_what_they_are_given() {
    let prompts = Prompts::built_in();
    let values = Values {
        today: "2026-01-15",
        available_tools: "- get_quotes: Returns quotes.",
        account: "Joint <&>",
        ..Values::default()
    };
    let text = prompts.render(Prompt::ToolPlanner, &values);
    for part in ["assistant of Toolwire", "2026-01-15", "- get_quotes: Returns", "Joint <&>", "\"none\""] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!prompts.render(Prompt::ToolAnswer, &Values::default()).contains("may be cited"));
}

#[test]
fn a_file_takes_the_place_of_what_is_built_in_and_edits_are_taken_over_or_told() {
    let (directory, tree) = disk(&[("persona.md", "Be a parrot.")]);
    let prompts = Prompts::open(tree, Vec::new()).unwrap();
    let text = || prompts.render(Prompt::Agent, &Values::default());
    assert!(text().starts_with("Be a parrot."));
    let path = directory.path().join("prompts/persona.md");
    fs::write(&path, "Be an owl.").unwrap();
    assert!(prompts.refresh().problems.is_empty());
    assert!(text().starts_with("Be an owl."));
    fs::write(&path, "Be {{ who }}.").unwrap();
    let problems = prompts.refresh().problems;
    assert!(problems[0].description.contains("no such value: who"), "{problems:?}");
    assert!(text().starts_with("Be an owl."), "the last good one stays");
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let long = "a".repeat(LONGEST + 1);
    let (_directory, tree) = disk(&[
        ("persona.md", &long),
        ("agent.md", "{% if %}"),
        ("tool_answer.md", "{{ today|nothing }}"),
        ("agnet.md", "x"),
        ("repair_plan.md", "{% include 'agent' %}"),
    ]);
    let Err(Problems(problems)) = Prompts::open(tree, vec!["clerk".to_owned()]) else { panic!("refused") };
    let rules: Vec<_> = problems.iter().map(|problem| problem.rule).collect();
    for rule in ["unknown-prompt", "too-long", "bad-prompt", "missing-prompt"] {
        assert!(rules.contains(&rule), "{problems:?}");
    }
    assert_eq!(problems.len(), 6, "{problems:?}");
}

#[test]
fn a_role_has_the_prompt_of_its_file_whether_built_in_on_disk_or_new() {
    let (directory, tree) = disk(&[]);
    let prompts = Prompts::open(tree, Vec::new()).unwrap();
    let text = |role: &str| prompts.render_role(role, &Values { today: "2026-01-15", ..Values::default() });
    assert!(text("analyst").unwrap().contains("Today is 2026-01-15."));
    assert_eq!(text("clerk"), None);
    let roles = directory.path().join("prompts/roles");
    fs::create_dir(&roles).unwrap();
    fs::write(roles.join("analyst.md"), "Count.").unwrap();
    fs::write(roles.join("clerk.md"), "{{ persona }} File.").unwrap();
    assert!(prompts.refresh().problems.is_empty());
    assert_eq!(text("analyst").unwrap(), "Count.");
    assert!(text("clerk").unwrap().starts_with("You are the assistant of Toolwire."));
    fs::write(roles.join("Clerk 2.md"), "x").unwrap();
    let problems = prompts.refresh().problems;
    assert_eq!((problems.len(), problems[0].rule), (1, "unknown-prompt"), "{problems:?}");
    fs::remove_file(roles.join("Clerk 2.md")).unwrap();
    fs::remove_file(roles.join("analyst.md")).unwrap();
    assert!(prompts.refresh().problems.is_empty());
    assert!(text("analyst").unwrap().contains("Today is"), "as it is built in");
}

#[test]
fn a_prompt_that_settings_name_may_not_go() {
    let (directory, tree) = disk(&[]);
    let roles = directory.path().join("prompts/roles");
    fs::create_dir(&roles).unwrap();
    fs::write(roles.join("clerk.md"), "File.").unwrap();
    let prompts = Prompts::open(tree, vec!["clerk".to_owned(), "analyst".to_owned()]).unwrap();
    fs::remove_file(roles.join("clerk.md")).unwrap();
    let problems = prompts.refresh().problems;
    assert_eq!((problems.len(), problems[0].rule), (1, "missing-prompt"), "{problems:?}");
    assert_eq!(prompts.render_role("clerk", &Values::default()).unwrap(), "File.", "the last good one stays");
}
