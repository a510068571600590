//! Nobody without credentials, and two users: neither sees, reads or changes anything of the other's.

use futures_util::{StreamExt, stream};

use super::{
    cases::{Case, Whose, cases},
    world::{OTHER, OWNER, Planted, World, send, words},
};

#[tokio::test]
async fn nobody_is_answered_without_credentials_but_where_anybody_may_ask() {
    let world = World::new();
    for case in cases(&Planted::nothing()) {
        let nobodys = send(world.address, None, &case).await;
        let forged = send(world.address, Some("forged"), &case).await;
        if case.whose == Whose::Anybodys {
            assert_eq!((nobodys.status, forged.status), (200, 200), "{}", case.route);
            continue;
        }
        assert_eq!((nobodys.status, nobodys.code().as_str()), (401, "CREDENTIALS_MISSING"), "{}", case.route);
        assert_eq!((forged.status, forged.code().as_str()), (401, "CREDENTIALS_REJECTED"), "{}", case.route);
    }
}

/// What the owner reads, by those cases that change nothing and have an end.
async fn read(world: &World, cases: &[Case]) -> Vec<(String, String)> {
    let is_read = |case: &&Case| case.whose == Whose::Owners && case.method() == "GET" && !case.is_watch();
    stream::iter(cases.iter().filter(is_read))
        .then(async |case| {
            let answer = send(world.address, Some(OWNER), case).await;
            assert_eq!(answer.status, 200, "{}: {answer:?}", case.route);
            (case.path.clone(), steady(&words(&answer)))
        })
        .collect()
        .await
}

/// A text without the time at which an end is told again.
pub(super) fn steady(text: &str) -> String {
    const TIME: &str = "\"event_time\":\"";
    let after = |part: &str| part.split_once('"').map_or_else(String::new, |(_, rest)| rest.to_owned());
    let mut parts = text.split(TIME);
    parts.next().into_iter().map(str::to_owned).chain(parts.map(after)).collect::<Vec<_>>().join(TIME)
}

#[tokio::test]
async fn another_user_sees_reads_and_changes_nothing() {
    let world = World::new();
    let planted = Planted::at(world.address).await;
    let (named, unknown) = (cases(&planted), cases(&Planted::nothing()));
    let before = read(&world, &named).await;
    let tells = |text: &str| planted.words().any(|word| text.contains(word));
    assert!(before.len() > 12 && before.iter().filter(|(_, text)| tells(text)).count() > 10, "{before:?}");
    // What is read comes first: what the other does is told it there, and takes some of the owner's names.
    let mut pairs: Vec<_> = named.iter().zip(&unknown).collect();
    pairs.sort_by_key(|(case, _)| (!case.is_list(), case.whose != Whose::Owners));
    for (case, unknown) in pairs {
        let answer = send(world.address, Some(OTHER), case).await;
        for word in planted.words().filter(|word| !case.says(word)) {
            assert!(!words(&answer).contains(word), "{} tells {word}: {answer:?}", case.route);
        }
        let to_nothing = send(world.address, Some(OTHER), unknown).await;
        if case.whose == Whose::Owners {
            assert_eq!(answer.status, to_nothing.status, "{}: {answer:?}", case.route);
            assert_eq!(answer.code(), to_nothing.code(), "{}", case.route);
            assert!((400..500).contains(&answer.status), "{}: {answer:?}", case.route);
            assert!(!matches!(answer.status, 400 | 415 | 422), "{} is a bad case: {answer:?}", case.route);
        } else {
            // A watch that has not begun in its time has told nothing either.
            let is_late = case.is_watch() && answer.status == 504;
            assert!(answer.status < 500 || is_late, "{}: {answer:?}", case.route);
        }
    }
    for (after, before) in read(&world, &named).await.into_iter().zip(before) {
        assert_eq!(after, before);
    }
}
