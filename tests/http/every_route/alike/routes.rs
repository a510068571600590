//! Every route of HTTP.

use futures_util::future::join_all;

use super::{
    super::{
        cases::{Case, Whose, cases},
        users::steady,
        world::{Names, Planted},
    },
    callers::{Caller, Callers},
    compare::{Findings, words},
};
use crate::http::raw::Answer;

fn request(case: &Case) -> String {
    format!("{} {} {:?} {}", case.method(), case.path, case.headers, case.body)
}

/// Whether a case names what its owner has.
fn is_named(case: &Case, planted: &Planted) -> bool {
    planted.ids().into_iter().chain(planted.names.all()).any(|name| case.says(name))
}

/// What each of them reads of its own.
async fn read(callers: &Callers, planted: &[Planted]) -> Vec<Vec<String>> {
    let of = async |(caller, planted): (&Caller, &Planted)| {
        let mut read = Vec::new();
        for case in cases(planted) {
            if case.whose == Whose::Owners && case.method() == "GET" && !case.is_watch() {
                let answer = caller.send(&case, caller.id).await;
                assert_eq!(answer.status, 200, "{}: {answer:?}", case.path);
                read.push(steady(&answer.body));
            }
        }
        assert!(read.iter().filter(|body| body.contains(&planted.content[0])).count() > 5, "{read:?}");
        read
    };
    join_all(callers.all.iter().zip(planted).map(of)).await
}

/// Sends the request of a case and waits until the job that it begins has ended: a user has one at a time.
async fn send(caller: &Caller, case: &Case, named: &str) -> Answer {
    let answer = caller.send(case, named).await;
    if let Some(job) = answer.headers.get("location").filter(|_| answer.status == 202) {
        caller.send(&Case::of("GET", job), caller.id).await;
    }
    answer
}

/// What a caller asks of everything that another one has.
async fn ask(caller: &Caller, others: &[&Caller], planted: &[Planted], findings: &Findings) {
    // What says nothing of others is asked first: later the caller has taken some of their names.
    let mut own = cases(&Planted::nothing());
    own.retain(Case::is_list);
    for case in own {
        let answer = words(&caller.send(&case, caller.id).await);
        findings.tells_of_other(caller, planted, others, &request(&case), &answer);
    }
    for (other, owned) in others.iter().zip(planted).filter(|(other, _)| other.id != caller.id) {
        let nothing = Planted::nothing();
        let mut pairs: Vec<_> = cases(owned).into_iter().zip(cases(&nothing)).collect();
        pairs.retain(|(case, _)| is_named(case, owned));
        pairs.sort_by_key(|(case, _)| case.whose != Whose::Owners);
        for (case, unknown) in pairs {
            let answer = send(caller, &case, other.id).await;
            let to_nothing = send(caller, &unknown, other.id).await;
            if case.whose == Whose::Owners && !(400..500).contains(&answer.status) {
                findings.add(format!("{}: {answer:?}", case.path));
            }
            let (request, answer) = (request(&case), words(&answer));
            findings.tells_of_other(caller, planted, others, &request, &answer);
            findings.differ(&request, (&answer, owned), (&words(&to_nothing), &nothing));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_route_tells_one_of_another() {
    let callers = Callers::start().await;
    let planted = callers.plant(Names::new).await;
    let before = read(&callers, &planted).await;
    let others: Vec<_> = callers.all.iter().collect();
    let findings = Findings::default();
    join_all(callers.all.iter().map(|caller| ask(caller, &others, &planted, &findings))).await;
    let after = read(&callers, &planted).await;
    for (before, after) in before.iter().flatten().zip(after.iter().flatten()) {
        findings.changed("what one has was changed", before, after);
    }
    // Requests that carry something out for the caller come last.
    for (caller, owned) in callers.all.iter().zip(&planted) {
        for case in cases(&Planted::nothing()) {
            let is_rest = !case.is_list() && case.whose != Whose::Anybodys && case.whose != Whose::Owners;
            if is_rest && !is_named(&case, owned) {
                let answer = words(&send(caller, &case, caller.id).await);
                for (other, other_owned) in callers.all.iter().zip(&planted) {
                    let told = other_owned.content.iter().find(|word| answer.contains(*word));
                    assert!(
                        other.id == caller.id || told.is_none(),
                        "{} tells {told:?}: {answer}",
                        case.path
                    );
                }
            }
        }
    }
    findings.assert_none();
}

#[tokio::test]
async fn each_lists_what_is_its_own() {
    let callers = Callers::start().await;
    let planted = callers.plant(Names::new).await;
    for (caller, own) in callers.all.iter().zip(&planted) {
        for (path, id) in [
            ("/v1/calls", &own.call),
            ("/v1/records", &own.call),
            ("/v1/confirmations", &own.confirmation),
            ("/v1/tasks", &own.task),
            ("/v1/jobs", &own.names.job),
        ] {
            let answer = caller.send(&Case::of("GET", path), caller.id).await;
            assert!(answer.body.contains(id), "{} {path}: {answer:?}", caller.id);
        }
        let tools = caller.send(&Case::of("GET", "/v1/tools"), caller.id).await;
        assert!(tools.body.contains(caller.own_tool), "{}", caller.id);
    }
}
