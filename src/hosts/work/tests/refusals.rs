//! Hosts that are not welcome.

use super::super::testing::offer;
use super::*;

#[tokio::test(start_paused = true)]
async fn a_host_of_which_every_tool_is_refused_is_told_so_and_what_is_served_stays() {
    let (hub, _) = hub();
    let mut served = Host::join(&hub, "a", "c1").await;
    for _ in 0..2 {
        let mut refused = Host::dial(&hub, "shop");
        refused.send(work_request::Message::Hello(hello("b", "c2"))).await;
        assert!(matches!(refused.next().await, Message::Welcome(it) if it.send_catalogue));
        let offers = vec![offer("refused")];
        refused.send(work_request::Message::Hello(wire::Hello { offers, ..hello("b", "c2") })).await;
        let status = refused.end().await.expect("refused");
        let info = status.get_details_error_info().expect("a reason");
        assert_eq!((status.code(), info.reason.as_str()), (Code::FailedPrecondition, "CATALOGUE_REFUSED"));
        assert!(status.message().ends_with("refused: /name another owns it"), "{status}");
    }
    let calling = Calling::begin(&hub, Effect::Read);
    let start = served.start().await;
    served.outcome(&start, &json!({})).await;
    assert_eq!(calling.result().await, Ok(json!({})));
    settle().await;
    assert_eq!(hub.slots("shop"), (1, 1));
}
