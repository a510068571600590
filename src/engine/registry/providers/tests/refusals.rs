//! Offers of which none can be served.

use super::*;

#[test]
fn what_a_provider_offers_stays_when_all_that_it_offers_next_is_refused() {
    let (registry, data) = registry();
    registry.provide("bank", vec![tool("balance")]);
    write_refund(&data, json!({}));
    registry.reload();
    registry.provide("shop", vec![tool("refund"), tool("order_status")]);
    let before = served(&registry);
    let unfit = json!({"approve_unless": {"order": {"pattern": "^A"}}});
    let made = registry.provide("shop", vec![tool("balance"), with("refund", unfit)]);
    assert!(made.iter().all(Result::is_err), "{made:?}");
    assert!(Arc::ptr_eq(&before, &served(&registry)), "the tool of the file, too");
    assert!(names(&registry).contains(&"order_status".to_owned()));
    assert!(registry.provide("shop", Vec::new()).is_empty());
    assert!(served(&registry).executor.is_none(), "what offers nothing has nothing");
    assert!(!names(&registry).contains(&"order_status".to_owned()));
}
