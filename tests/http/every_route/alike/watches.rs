//! Watches that are open while each of them makes something: they tell of one's own alone.

use futures_util::future::{join, join_all};

use super::{
    super::{
        cases::{Case, cases},
        world::{Names, Planted},
    },
    callers::{Caller, Callers},
    compare::{Findings, words},
};

/// The watches of what a caller has, open until all have made everything, and for a while.
fn watches() -> Vec<Case> {
    let mut all = cases(&Planted::nothing());
    // None of them has a provider.
    all.retain(|case| {
        case.is_watch() && !["/timeline", "/providers"].iter().any(|it| case.path.contains(it))
    });
    for case in &mut all {
        case.headers.retain(|header| !header.starts_with("x-toolwire-timeout"));
        case.headers.push("x-toolwire-timeout: 30s".to_owned());
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_tells_of_ones_own_alone() {
    let callers = Callers::start().await;
    let watch = async |caller: &Caller| {
        let answers = watches().into_iter().map(async |case| {
            let answer = caller.send(&case, caller.id).await;
            (case.path.clone(), words(&answer))
        });
        join_all(answers).await
    };
    let planting = callers.plant(Names::new);
    let (told, planted) = join(join_all(callers.all.iter().map(watch)), planting).await;
    let (others, findings) = (callers.all.iter().collect::<Vec<_>>(), Findings::default());
    for ((caller, told), own) in callers.all.iter().zip(told).zip(&planted) {
        assert!(told.len() >= 3);
        for (path, answer) in told {
            findings.tells_of_other(caller, &planted, &others, &path, &answer);
            let own = match () {
                () if path.contains("tools") => caller.own_tool.to_owned(),
                // Records of calls have no arguments.
                () if path.contains("calls") => own.call.clone(),
                () => caller.mark(),
            };
            assert!(answer.contains(&own), "{path} does not tell {} of {own}: {answer}", caller.id);
        }
    }
    findings.assert_none();
}
