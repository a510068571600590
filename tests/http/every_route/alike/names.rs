//! The same names, arguments and times: what is one's own under a name is nothing to another who uses the name, and the
//! limits of one are not used up by another. Ids that would be one are refused at start.

use serde_json::json;
use toolwire::config::{Flags, testing};

use super::{
    super::{
        cases::{Case, Whose, cases},
        world::Names,
    },
    callers::{CALLERS, Callers},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_name_is_another_thing_for_each() {
    let callers = Callers::start().await;
    let names = Names::new();
    let planted = callers.plant(|| names.clone()).await;
    for (caller, own) in callers.all.iter().zip(&planted) {
        let mut told = 0;
        for case in cases(own) {
            if case.whose != Whose::Owners || case.method() != "GET" || case.is_watch() {
                continue;
            }
            let answer = caller.send(&case, caller.id).await;
            assert_eq!(answer.status, 200, "{}: {answer:?}", case.path);
            told += usize::from(answer.body.contains(&own.content[0]));
            for other in planted.iter().filter(|other| other.call != own.call) {
                let told = other.content.iter().map(String::as_str).chain(other.ids());
                let told = told.into_iter().find(|word| answer.body.contains(word));
                assert_eq!(told, None, "{} tells {}: {answer:?}", case.path, caller.id);
            }
        }
        assert!(told > 5, "{told}");
        // A repeat of the call is answered with one's own.
        let key = format!("idempotency-key: {}", names.request);
        let repeat = Case::of("POST", "/v1/tools/debug_write:call").saying(&json!({"value": caller.mark()}));
        let answer = caller.send(&repeat.with(key), caller.id).await;
        assert!(answer.status == 200 && answer.body.contains(&caller.mark()), "{answer:?}");
    }
}

#[tokio::test]
async fn one_cached_result_answers_its_user_alone() {
    let callers = Callers::start().await;
    let summary = Case::of("POST", "/v1/tools/get_account_summary:call").saying(&json!({}));
    for _ in 0..2 {
        for (caller, (_, _, money)) in callers.all.iter().zip(CALLERS) {
            let answer = caller.send(&summary, caller.id).await;
            let told = CALLERS.into_iter().filter(|(_, _, money)| answer.body.contains(money)).count();
            assert!(answer.body.contains(money) && told == 1, "{}: {answer:?}", caller.id);
        }
    }
}

#[tokio::test]
async fn a_quota_that_one_has_used_up_is_anothers_still() {
    let callers = Callers::with("[[quota]]\ncalls = 1\nwindow = '1h'\n").await;
    let call = Case::of("POST", "/v1/tools/debug_write:call").saying(&json!({"value": "x"}));
    for caller in &callers.all {
        let [first, second] = [caller.send(&call, caller.id).await, caller.send(&call, caller.id).await];
        assert_eq!((first.status, second.status), (200, 429), "{}: {first:?} {second:?}", caller.id);
    }
}

#[test]
fn ids_that_would_be_one_are_refused_at_start() {
    let issuer = |name: &str, url: &str| {
        format!("[[auth.issuers]]\nname = '{name}'\nissuer = 'https://{url}'\naudience = ['toolwire']\n")
    };
    let user = |id: &str, token: &str| format!("[[auth.users]]\nuser_id = '{id}'\ntoken = '{token}'\n");
    let workload = |id: &str, user: &str, groups: &str| {
        format!("[[auth.spiffe]]\nid = 'spiffe://{id}'\nuser = '{user}'\ngroups = [{groups}]\n")
    };
    let mesh = "[server.tls]\ncert = 'c.pem'\nkey = 'k.pem'\nclient_ca = 'a.pem'\nclient_auth = 'optional'\n\
                [http]\npublic_url = 'https://tools.example'\n";
    let (riley, corp) = (user("riley", "a-long-enough-t0ken"), issuer("corp", "login.example"));
    let problems = |text: &str| match testing::load_text(text, &[], Flags::default(), &[]) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    for (what, text, words) in [
        ("a user of the file and of an issuer", user("corp:riley", "a-long-enough-t0ken") + &corp, "colon"),
        ("two issuers of one name", corp.clone() + &issuer("corp", "other.example"), "name is that"),
        ("one issuer under two names", corp.clone() + &issuer("partner", "login.example"), "issuer is that"),
        ("a name that holds a separator", issuer("corp:riley", "login.example"), "name must be"),
        ("a name that holds that of groups", issuer("corp/staff", "login.example"), "name must be"),
        ("a workload and a user of the file", riley.clone() + &workload("a.example/x", "riley", ""), "riley"),
        (
            "a workload and a user of an issuer",
            corp.clone() + &workload("a.example/x", "corp:riley", ""),
            "colon",
        ),
        ("groups of both", corp.clone() + &workload("a.example/x", "agent", "'corp/staff'"), "groups must"),
        (
            "an id that two entries match",
            workload("a.example/*/x", "agent", "") + &workload("a.example/ns/*", "robot", ""),
            "id matches ids",
        ),
        ("a token of two", riley.clone() + &user("Riley", "a-long-enough-t0ken"), "token"),
    ] {
        let told = problems(&format!("{mesh}{text}"));
        assert!(told.contains(words), "{what}: {told:?}");
    }
    // Alike is not the same.
    let alike = format!("{mesh}{riley}{corp}{}", workload("a.example/x", "Riley", "'staff'"));
    assert_eq!(problems(&alike), "");
}
