//! Two servers whose transactions go through one pooler. Without PostgreSQL nothing is tested.

use super::*;
use crate::support::pooler::Pooler;

#[tokio::test]
async fn what_one_server_asks_another_approves_and_both_write_once_through_a_pooler() {
    let Some(pooler) = Pooler::start("") else { return };
    let state = tempfile::tempdir().unwrap();
    let house = || House::with(|config| config.state.database = Some(pooler.address(state.path())));
    let (one, other) = (house(), house());
    let (here, there) = (one.person("riley").await, other.person("riley").await);
    let (id, second) = (RequestId::generate(), RequestId::generate());
    let asked = here.asks(id, "x").await;
    assert_eq!(there.state(&asked.confirmation_id).await, ConfirmationState::Pending);
    there.approve(&asked.confirmation_id).await.unwrap();
    assert_eq!(data(here.call_confirm(id, "x").await)["writes"], 1);
    // A repeat is answered from what the other one recorded.
    assert_eq!(data(there.call_confirm(id, "x").await)["writes"], 1);
    let asked = there.asks(second, "it's a \\ \"second\"; one").await;
    here.approve(&asked.confirmation_id).await.unwrap();
    assert_eq!(data(there.call_confirm(second, "it's a \\ \"second\"; one").await)["writes"], 1);
    one.server.shut_down().await;
    other.server.shut_down().await;
}
