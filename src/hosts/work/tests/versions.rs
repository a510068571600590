//! Programs of several versions: which of them carries a call out, and what operators see of them.

use super::*;
use crate::{
    bounds::{REFUSED_SEEN, SUPERSEDED_GRACE, WAITING_SEEN},
    hub::{HostState, Hub},
    work::testing::offer,
};

#[tokio::test(start_paused = true)]
async fn a_newer_catalogue_takes_over_and_slots_of_the_older_one_leave_after_their_calls() {
    let (hub, _) = hub();
    let mut old = Host::join(&hub, "a", "c1").await;
    let mut idle = Host::join(&hub, "a", "c1").await;
    let calling = Calling::begin(&hub, Effect::Read);
    let (start, busy) = tokio::select! {
        start = old.start() => (start, &mut old),
        start = idle.start() => (start, &mut idle),
    };
    let _new = Host::join(&hub, "b", "c2").await;
    sleep(SUPERSEDED_GRACE).await;
    settle().await;
    assert_eq!(hub.slots("shop"), (1, 1));
    busy.outcome(&start, &json!({})).await;
    assert_eq!(calling.result().await, Ok(json!({})));
    assert!(matches!(busy.next().await, Message::Leave(it) if it.retry_after.is_some()));
    let mut again = Host::join(&hub, "a", "c1").await;
    assert!(matches!(again.next().await, Message::Leave(_)), "it keeps its place in the order");
}

#[tokio::test(start_paused = true)]
async fn calls_that_began_before_a_newer_catalogue_took_over_are_carried_out_by_the_older_one() {
    let (hub, _) = hub();
    let mut old = Host::join(&hub, "a", "c1").await;
    let running = Calling::begin(&hub, Effect::Read);
    let start = old.start().await;
    let waiting = Calling::begin(&hub, Effect::Write);
    settle().await;
    let _new = Host::join(&hub, "b", "c2").await;
    let late = Calling::begin(&hub, Effect::Read);
    sleep(10 * SUPERSEDED_GRACE).await;
    old.outcome(&start, &json!({})).await;
    assert_eq!(running.result().await, Ok(json!({})));
    for calling in [waiting, late] {
        let start = old.start().await;
        old.outcome(&start, &json!({"by": "the older one"})).await;
        assert_eq!(calling.result().await, Ok(json!({"by": "the older one"})));
    }
    assert!(matches!(old.next().await, Message::Leave(_)), "no call is left for it");
    let error = Calling::begin(&hub, Effect::Write).result().await.expect_err("superseded");
    assert_eq!((error.code, error.retry_after), (ErrorCode::Unavailable, Some(SECOND)));
    settle().await;
    assert_eq!(hub.slots("shop"), (1, 1), "nothing was sent to the newer one");
}

#[tokio::test(start_paused = true)]
async fn a_call_of_a_tool_that_did_not_change_goes_to_the_newer_catalogue() {
    let (hub, _) = hub();
    let mut old = Host::join(&hub, "a", "c1").await;
    let calling = Calling::begin(&hub, Effect::Read);
    let start = old.start().await;
    let waiting = Calling::begin(&hub, Effect::Write);
    settle().await;
    let mut new = Host::join(&hub, "b", "c2").await;
    hub.pool().define(&"shop".into(), &"c2".into(), "status", "d1");
    sleep(SUPERSEDED_GRACE).await;
    settle().await;
    old.kill().await;
    // The read is carried out once more, and the write was not sent before.
    for _ in 0..2 {
        let again = new.start().await;
        assert_eq!(again.digest, start.digest);
        new.outcome(&again, &json!({"by": "the newer one"})).await;
    }
    for calling in [calling, waiting] {
        assert_eq!(calling.result().await, Ok(json!({"by": "the newer one"})));
    }
}

#[tokio::test(start_paused = true)]
async fn operators_see_which_hosts_serve_wait_or_were_refused() {
    let (hub, _) = hub();
    let _old = Host::join(&hub, "a", "c1").await;
    let _new = [Host::join(&hub, "b", "c2").await, Host::join(&hub, "b", "c2").await];
    sleep(SUPERSEDED_GRACE).await;
    settle().await;
    let _again = Host::join(&hub, "a", "c1").await;
    let mut refused = Host::dial(&hub, "shop");
    for offers in [Vec::new(), vec![offer("refused")]] {
        let hello = wire::Hello { offers, sdk: "go/1".to_owned(), ..hello("c", "c3") };
        refused.send(work_request::Message::Hello(hello)).await;
    }
    refused.next().await;
    refused.end().await.expect("refused");
    let seen = |hub: &Hub| -> Vec<_> {
        let hosts = hub.hosts("shop").into_iter();
        hosts.map(|it| (it.instance.to_string(), it.catalogue.to_string(), it.state, it.slots)).collect()
    };
    let [serving, waiting, gone] = [
        ("b".to_owned(), "c2".to_owned(), HostState::Serving, 2),
        ("a".to_owned(), "c1".to_owned(), HostState::Waiting, 0),
        ("c".to_owned(), "c3".to_owned(), HostState::Refused, 0),
    ];
    assert_eq!(seen(&hub), [serving.clone(), waiting, gone.clone()]);
    assert_eq!(&*hub.hosts("shop")[2].sdk, "go/1");
    sleep(WAITING_SEEN).await;
    assert_eq!(seen(&hub), [serving, gone], "what does not come again does not wait");
    // Until then those that serve have not answered a `Ping` either.
    sleep(REFUSED_SEEN).await;
    assert!(seen(&hub).is_empty());
    assert!(hub.hosts("bank").is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_old_version_that_is_started_again_takes_over_once_no_host_of_it_is_left() {
    let (hub, _) = hub();
    let _old = Host::join(&hub, "a", "c1").await;
    let mut new = Host::join(&hub, "b", "c2").await;
    sleep(SUPERSEDED_GRACE).await;
    settle().await;
    let _waits = Host::join(&hub, "a", "c1").await;
    let mut started = Host::join(&hub, "a2", "c1").await;
    assert!(
        matches!(started.next().await, Message::Leave(_)),
        "it may be a copy that came back in a roll-out"
    );
    sleep(WAITING_SEEN).await;
    let mut left = Host::join(&hub, "a", "c1").await;
    assert!(matches!(left.next().await, Message::Leave(_)), "it was there before");
    sleep(WAITING_SEEN).await;
    let back = Host::join(&hub, "a2", "c1").await;
    assert!(matches!(new.next().await, Message::Leave(it) if it.retry_after.is_some()), "a roll-back");
    let mut again = Host::join(&hub, "b", "c2").await;
    assert!(matches!(again.next().await, Message::Leave(_)), "each start takes over once");
    drop(back);
}

#[tokio::test(start_paused = true)]
async fn old_and_new_hosts_that_dial_in_at_once_do_not_take_turns_in_service() {
    let (hub, log) = hub();
    let _old = Host::join(&hub, "a", "c1").await;
    log.serve_slowly();
    let new = Host::dial(&hub, "shop");
    let offers = vec![status()];
    for offers in [Vec::new(), offers] {
        new.send(work_request::Message::Hello(wire::Hello { offers, ..hello("b", "c2") })).await;
    }
    settle().await;
    // While the offers are being served.
    let mut late: Vec<_> = [(); 3].map(|()| Host::dial(&hub, "shop")).into();
    for host in &late {
        host.send(work_request::Message::Hello(hello("a", "c1"))).await;
    }
    for host in &mut late {
        assert!(matches!(host.next().await, Message::Welcome(it) if !it.send_catalogue));
        assert!(matches!(host.next().await, Message::Leave(it) if it.retry_after.is_some()));
    }
    sleep(SUPERSEDED_GRACE).await;
    settle().await;
    assert_eq!((hub.slots("shop"), log.take()), ((1, 1), vec!["serve shop: status".to_owned(); 2]));
}
