//! Rules that deny: the rights that they take, and the users that they shut out.

use super::*;

#[test]
fn a_user_of_the_file_may_lose_a_right_by_a_rule() {
    let deny = "[[auth.rules]]\nwho = ['user:riley']\ntools = ['debug_*']\neffect = 'deny'\n";
    let auth = auth(&format!("{RILEY}{deny}"));
    let riley = User::new("riley".parse().unwrap());
    let may = |tool| auth.may(&riley, Right::Call, RuleTarget::named(tool));
    assert!(may("get_quotes") && !may("debug_sleep"));
    assert!(!auth.may_call_all(&riley) && auth.may_some(&riley, Right::Call));
}

/// A user who leaves gets one rule, which needs no list of rights.
#[test]
fn a_rule_that_denies_takes_every_right_unless_it_names_some() {
    let observer = format!("{RILEY}approve = ['*']\nobserve = true\n");
    let rights = |rule: &str| {
        let rule = format!("[[auth.rules]]\nwho = ['user:riley']\neffect = 'deny'\n{rule}\n");
        let auth = auth(&format!("{observer}{rule}"));
        let riley = User::new("riley".parse().unwrap());
        let may = |tool| Right::ALL.map(|right| auth.may(&riley, right, RuleTarget::named(tool)));
        let may_some = Right::ALL.map(|right| auth.may_some(&riley, right));
        (may("debug_confirm"), may("get_quotes"), may_some)
    };
    let (all, none) = ([true; 4], [false; 4]);
    assert_eq!(rights("tools = ['*']"), (none, none, none));
    // Seeing that others' calls are there is of all tools: a rule about some of them leaves it.
    let but_observe = [false, false, true, false];
    for narrow in ["tools = ['debug_*']", "tools = ['debug_*', 'x']"] {
        assert_eq!(rights(narrow), (but_observe, all, all), "{narrow}");
    }
    // Of a tool that is not offered nothing but the name is known, and it is denied.
    for narrow in ["tags = ['x']", "category = ['write', 'delete']", "tools = ['*']\ncategory = ['write']"] {
        assert_eq!(rights(narrow), (but_observe, but_observe, all), "{narrow}");
    }
    assert_eq!(
        rights("tools = ['*']\nmay = ['call']"),
        ([false, true, true, true], [false, true, true, true], [false, true, true, true])
    );
    let allows = "[[auth.rules]]\nwho = ['user:riley']\ntools = ['*']\n";
    assert_eq!(
        auth(&format!("{RILEY}{allows}")).rules[0].may,
        [Right::Call],
        "one that allows gives the least"
    );
}

/// A user who leaves keeps no right, and a rule that leaves one does not shut its users out.
#[test]
fn a_rule_that_takes_everything_shuts_its_users_out() {
    let riley = user("riley", &[], &[]).with_known_by(KnownBy::Token);
    let rule = |who: &str, rest: &str| {
        let shop = "[toolsets.shop]\ntools = ['*']\n";
        auth(&format!("{shop}{CORP}{RILEY}observe = true\n[[auth.rules]]\nwho = ['{who}']\n{rest}\n"))
    };
    let all = "tools = ['*']\neffect = 'deny'";
    for rest in [
        all,
        "tools = ['get_*', '*']\neffect = 'deny'",
        &format!("{all}\nmay = ['call', 'approve', 'observe', 'read_records']"),
    ] {
        let auth = rule("user:riley", rest);
        assert!(auth.shut_out_by(&riley).is_some() && !auth.knows(&riley), "{rest}");
        let others = user("corp:riley", &["corp/riley"], &[]);
        assert!(auth.shut_out_by(&others).is_none(), "{rest}");
    }
    for rest in [
        "tools = ['*']".to_owned(),
        "tools = ['get_*', 'x']\neffect = 'deny'".to_owned(),
        format!("{all}\nmay = ['call', 'approve', 'read_records']"),
        format!("{all}\ntags = ['x']"),
        format!("{all}\ncategory = ['read', 'write', 'delete', 'side_effect']"),
        format!("{all}\ntoolsets = ['shop']"),
    ] {
        assert!(rule("user:riley", &rest).knows(&riley), "{rest}");
    }
    let of_group = rule("group:corp/left", all);
    assert!(of_group.shut_out_by(&user("corp:1", &["corp/left"], &[])).is_some());
    assert!(of_group.shut_out_by(&user("corp:1", &["corp/support"], &[])).is_none());
}
