//! Rules about the tools of a toolset.

use super::{CORP, RILEY, auth, loaded, target, user};
use crate::{Consequence, Right, RuleTarget, ToolCategory, print};

const SHOP: &str =
    "[toolsets.shop]\ntools = ['shop_*']\ntags = ['orders']\n[toolsets.desk]\ntools = ['desk_*']\n";

fn rule(rest: &str) -> String {
    format!("[[auth.rules]]\nwho = ['group:corp/support']\n{rest}\n")
}

#[test]
fn a_rule_of_a_toolset_is_about_the_tools_of_it() {
    let read = loaded(&format!("{SHOP}{CORP}{}", rule("toolsets = ['shop']"))).unwrap();
    let printed = print(&read);
    assert!(printed.contains("toolsets = [\"shop\"]"), "{printed}");
    assert!(loaded(&printed).is_ok(), "{printed}");
    let (auth, support) = (read.config.auth, user("corp:1", &["corp/support"], &[]));
    let orders = ["orders".to_owned()];
    let offered = |name, tags| RuleTarget { name, ..target(tags, ToolCategory::Write, Consequence::High) };
    for (tool, may) in [
        (offered("shop_order", &[][..]), true),
        (offered("refund", &orders), true),
        (offered("refund", &[]), false),
        (offered("desk_open", &[]), false),
        // By its name alone.
        (RuleTarget::named("shop_nothing"), true),
        // It might have the tag; a rule that allows says nothing of it.
        (RuleTarget::named("refund"), false),
    ] {
        assert_eq!(auth.may(&support, Right::Call, tool), may, "{tool:?}");
    }
    assert!(!auth.may_call_all(&support) && auth.may_some(&support, Right::Call));
    assert!(auth.rules[0].is_conditional(), "a tag matters");
}

#[test]
fn a_rule_that_denies_a_toolset_is_for_what_may_be_in_it() {
    let deny = |toolset: &str| {
        let deny = rule(&format!("toolsets = ['{toolset}']\neffect = 'deny'"));
        auth(&format!("{SHOP}{CORP}{}{deny}", rule("tools = ['*']")))
    };
    let support = user("corp:1", &["corp/support"], &[]);
    let may = |toolset: &str, tool| deny(toolset).may(&support, Right::Call, tool);
    let offered = |name| RuleTarget { name, ..target(&[], ToolCategory::Read, Consequence::Low) };
    assert!(may("shop", offered("desk_open")) && !may("shop", offered("shop_order")));
    // In the same words as a tool that has the tag.
    assert!(!may("shop", RuleTarget::named("anything")));
    // Names alone tell what is in this one.
    assert!(may("desk", RuleTarget::named("anything")) && !may("desk", RuleTarget::named("desk_open")));
}

#[test]
fn a_toolset_narrows_what_else_a_rule_says() {
    let auth = auth(&format!("{SHOP}{CORP}{}", rule("toolsets = ['shop', 'desk']\ncategory = ['read']")));
    let support = user("corp:1", &["corp/support"], &[]);
    let may = |name, category| {
        let tool = RuleTarget { name, ..target(&[], category, Consequence::Low) };
        auth.may(&support, Right::Call, tool)
    };
    assert!(may("shop_list", ToolCategory::Read) && may("desk_list", ToolCategory::Read));
    assert!(!may("shop_list", ToolCategory::Write) && !may("get_quotes", ToolCategory::Read));
}

#[test]
fn a_wrong_toolset_of_a_rule_is_refused_at_its_line() {
    for (wrong, words) in [
        ("toolsets = ['shpo']", "toolsets names \"shpo\", but there is no [toolsets.shpo]"),
        ("toolsets = ['shop', 'Shop']", "toolsets names \"Shop\""),
        ("toolsets = []", "toolsets must name at least one of [toolsets]"),
        ("toolsets = 'shop'", "expected a list"),
        ("tools = ['*']\ntoolsets = ['shop']\nmay = ['observe']", "observe is of all tools"),
    ] {
        let error = loaded(&format!("{SHOP}{RILEY}{CORP}{}", rule(wrong))).unwrap_err();
        assert!(error.contains(words), "{wrong}: {error}");
        assert!(error.contains(": auth.rules.0"), "{wrong}: {error}");
    }
    let near = loaded(&format!("{SHOP}{CORP}{}", rule("toolsets = ['shpo']"))).unwrap_err();
    assert!(near.contains("Did you mean shop"), "{near}");
}

#[test]
fn other_tools_in_a_toolset_are_other_rights_and_no_other_rule() {
    let file = |tools: &str| {
        let toolset = format!("[toolsets.shop]\ntools = ['{tools}']\n");
        auth(&format!("{toolset}{CORP}{}", rule("toolsets = ['shop']")))
    };
    let (before, after) = (file("shop_*"), file("shop_list"));
    assert_eq!(after.changes_since(&before), [""; 0]);
    assert!(!after.is_same_for(&before, &user("corp:1", &["corp/support"], &[])));
    assert!(after.is_same_for(&before, &user("corp:1", &[], &[])));
}
