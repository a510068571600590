//! Programs without credentials: which has the name of a provider, and which states one.

use tonic::Status;

use super::*;

/// A greeting of a program, which states this name.
fn of(program: &str, instance: &str, catalogue: &str, provider: &str) -> wire::Hello {
    wire::Hello { provider: provider.into(), program: program.into(), ..hello(instance, catalogue) }
}

/// Opens an idle slot without credentials, or says why not, with the provider that it is of.
async fn join(hub: &Hub, hello: &wire::Hello) -> Result<(Host, String), Status> {
    let mut host = Host::dial(hub, "local");
    host.send(work_request::Message::Hello(hello.clone())).await;
    loop {
        let answer =
            timeout(REMOVED_AFTER, host.answers.recv()).await.expect("in time").expect("an answer")?;
        match answer.message {
            Some(Message::Welcome(welcome)) if welcome.send_catalogue => {
                let hello = wire::Hello { offers: vec![status()], ..hello.clone() };
                host.send(work_request::Message::Hello(hello)).await;
            }
            Some(Message::Welcome(welcome)) => return Ok((host, welcome.provider)),
            other => panic!("{other:?}"),
        }
    }
}

async fn refused(hub: &Hub, hello: &wire::Hello) -> (String, String) {
    let status = join(hub, hello).await.map(|(_, provider)| provider).expect_err("refused");
    (status.get_details_error_info().expect("a reason").reason, status.message().to_owned())
}

/// As a program that ends in order.
async fn leave(mut host: Host) {
    host.send(work_request::Message::Leaving(wire::Leaving {})).await;
    assert!(matches!(host.next().await, Message::Leave(_)));
    drop(host.requests);
    assert!(timeout(SECOND, host.answers.recv()).await.expect("in time").is_none(), "OK");
    settle().await;
}

#[tokio::test(start_paused = true)]
async fn another_program_is_refused_until_the_first_has_left() {
    let (hub, log) = hub();
    let (first, provider) = join(&hub, &of("/a/tools.py of alex", "a1", "c1", "")).await.expect("welcome");
    assert_eq!(provider, "local");
    let (copy, _) = join(&hub, &of("/a/tools.py of alex", "a2", "c1", "")).await.expect("a copy");
    let (reason, text) = refused(&hub, &of("/b/tools.py of alex", "b1", "c2", "")).await;
    assert_eq!(reason, "PROVIDER_HELD");
    for words in
        ["`local` is another program, /a/tools.py of alex.", "provider=\"NAME\"", "provider=\"local\""]
    {
        assert!(text.contains(words), "{text}");
    }
    assert_eq!((hub.slots("local"), log.take()), ((2, 2), vec!["serve local: status".to_owned()]));
    leave(first).await;
    assert_eq!(refused(&hub, &of("", "b1", "c2", "")).await.0, "PROVIDER_HELD", "one that says nothing, too");
    leave(copy).await;
    join(&hub, &of("/b/tools.py of alex", "b1", "c2", "")).await.expect("welcome");
}

#[tokio::test(start_paused = true)]
async fn a_program_that_is_lost_keeps_its_name_until_its_tools_are_removed() {
    let (hub, log) = hub();
    let (host, _) = join(&hub, &of("/a", "a1", "c1", "")).await.expect("welcome");
    host.kill().await;
    sleep(DEGRADED_AFTER * 2).await;
    let (_, text) = refused(&hub, &of("/b", "b1", "c2", "")).await;
    assert!(text.contains("which was lost 10 s ago and keeps the name for 590 s"), "{text}");
    let (again, _) = join(&hub, &of("/a", "a2", "c3", "")).await.expect("started again, with other tools");
    again.kill().await;
    sleep(REMOVED_AFTER + SECOND).await;
    join(&hub, &of("/b", "b1", "c2", "")).await.expect("welcome");
    let log = log.take();
    assert_eq!(log[log.len() - 2..], ["serve local: status", "degraded local: None"], "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn a_stated_name_is_a_provider_of_its_own_and_takes_one_over_once() {
    let (hub, _) = hub();
    let (mut first, _) = join(&hub, &of("/a", "a1", "c1", "")).await.expect("welcome");
    let (_other, provider) = join(&hub, &of("/b", "b1", "c1", "shop")).await.expect("welcome");
    assert_eq!((provider.as_str(), hub.slots("shop"), hub.slots("local")), ("shop", (1, 1), (1, 1)));
    // Its catalogue came up before that of the first.
    let (second, _) = join(&hub, &of("/c", "c1", "c0", "local")).await.expect("it replaces");
    assert!(matches!(first.next().await, Message::Leave(it) if it.retry_after.is_some()));
    drop(first);
    let (again, _) = join(&hub, &of("/a", "a2", "c1", "local")).await.expect("it replaces in turn");
    drop(second);
    settle().await;
    let (mut waits, _) = join(&hub, &of("/c", "c1", "c0", "local")).await.expect("welcome");
    assert!(matches!(waits.next().await, Message::Leave(it) if it.retry_after.is_some()), "once each start");
    let (mut waits, _) = join(&hub, &of("/c", "c1", "c9", "local")).await.expect("welcome");
    assert!(matches!(waits.next().await, Message::Leave(_)), "whatever it offers now");
    assert_eq!(refused(&hub, &of("/c", "c2", "c0", "")).await.0, "PROVIDER_HELD");
    assert_eq!(hub.slots("local"), (1, 1));
    leave(again).await;
    join(&hub, &of("/c", "c1", "c0", "local")).await.expect("welcome");
    assert_eq!(hub.slots("local"), (1, 1), "it comes back");
}

#[tokio::test(start_paused = true)]
async fn only_a_host_without_credentials_states_a_name_and_none_that_is_configured() {
    let (hub, _) = hub();
    let (reason, text) = refused(&hub, &of("/a", "a1", "c1", "configured")).await;
    assert_eq!(reason, "WRONG_PROVIDER");
    assert!(text.contains("`configured`: it has a token"), "{text}");
    for program in ["x".repeat(MAX_PROGRAM + 1), "a\nb".to_owned()] {
        assert_eq!(refused(&hub, &of(&program, "a1", "c1", "")).await.0, "PROTOCOL_VIOLATION");
    }
    // Those with credentials may be of any program.
    let mut first = Host::dial(&hub, "shop");
    first.send(work_request::Message::Hello(of("/a", "a1", "c1", "shop"))).await;
    assert!(matches!(first.next().await, Message::Welcome(_)));
    let mut second = Host::dial(&hub, "shop");
    second.send(work_request::Message::Hello(of("/b", "b1", "c1", ""))).await;
    assert!(matches!(second.next().await, Message::Welcome(_)));
}

#[tokio::test(start_paused = true)]
async fn names_that_are_held_and_their_slots_are_bounded() {
    let (hub, _) = hub();
    for number in 0..MAX_NAMES {
        let host = Host::dial(&hub, "local");
        host.send(work_request::Message::Hello(of("/a", "a1", "c1", &format!("x{number}")))).await;
    }
    settle().await;
    for number in 0..MAX_NAMES {
        let name = format!("n{number}");
        join(&hub, &of("/a", "a1", "c1", &name)).await.expect("welcome");
    }
    assert_eq!(refused(&hub, &of("/a", "a1", "c1", "more")).await.0, "TOO_MANY_SLOTS");
    let mut slots = Vec::new();
    for _ in 0..MAX_SLOTS_OF_PROVIDER {
        slots.push(join(&hub, &of("/a", "a1", "c1", "n7")).await.expect("welcome"));
    }
    assert_eq!(refused(&hub, &of("/a", "a1", "c1", "n7")).await.0, "TOO_MANY_SLOTS");
    sleep(REMOVED_AFTER + SECOND).await;
    join(&hub, &of("/a", "a1", "c1", "more")).await.expect("the tools of others are withdrawn");
}

#[tokio::test(start_paused = true)]
async fn a_program_with_all_slots_of_local_leaves_those_of_other_names() {
    let (hub, _) = hub();
    let mut slots = Vec::new();
    for _ in 0..MAX_SLOTS_OF_PROVIDER {
        slots.push(join(&hub, &of("/a", "a1", "c1", "")).await.expect("welcome"));
    }
    assert_eq!(refused(&hub, &of("/a", "a1", "c1", "")).await.0, "TOO_MANY_SLOTS");
    let (_other, provider) = join(&hub, &of("/b", "b1", "c1", "billing")).await.expect("welcome");
    assert_eq!((provider.as_str(), hub.slots("local")), ("billing", (256, 256)));
}
