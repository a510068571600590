//! What models are told, to the letter: each prompt that is built in, with values and without.

use strum::VariantArray as _;

use toolwire::agent::prompts::{Prompt, Prompts, Values};

const VALUES: Values<'static> = Values {
    account: "Joint",
    available_tools: "- get_quotes(symbol): Returns quotes.",
    guidance: "## Tool Usage Guidelines\n- Never retry after a limit.",
    problem: "the number 7 stands in no result.",
    schema: r#"{"type":"object"}"#,
    sources: "[tool:quotes:v1]",
    today: "2026-01-15",
};

/// Those of roles that are built in.
const ROLES: [&str; 3] = ["analyst", "developer", "visualizer"];

#[test]
fn prompts_say_what_they_are_known_to_say() {
    let prompts = Prompts::built_in();
    for prompt in Prompt::VARIANTS {
        insta::assert_snapshot!(prompt.into_str(), prompts.render(*prompt, &VALUES));
    }
    for role in ROLES {
        insta::assert_snapshot!(format!("role_{role}"), prompts.render_role(role, &VALUES).unwrap());
    }
}

#[test]
fn what_is_not_there_leaves_no_gap() {
    let prompts = Prompts::built_in();
    let Values { today, available_tools, .. } = VALUES;
    let bare = Values { today, available_tools, ..Values::default() };
    let of_roles = ROLES.map(|role| prompts.render_role(role, &bare).unwrap());
    let texts = Prompt::VARIANTS.iter().map(|prompt| prompts.render(*prompt, &bare));
    for text in texts.chain(of_roles) {
        assert!(!text.is_empty() && !text.contains("\n\n\n"), "{text}");
    }
}
