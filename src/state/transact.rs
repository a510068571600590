//! Transactions whose statements are written in place.

/// Runs a transaction whose statements are written in place, as the body of an async block.
macro_rules! transact {
    ($store:expr, $lane:expr, $durability:expr, |$tx:ident| $work:block) => {
        $store.transact::<_, ::toolwire_db::Error>($lane, $durability, |$tx| ::toolwire_db::scoped(async move $work)).await
    };
}

/// The same of a transaction that decides nothing by the clock.
macro_rules! transact_without_clock {
    ($store:expr, $lane:expr, $durability:expr, |$tx:ident| $work:block) => {
        $store.record::<_, ::toolwire_db::Error>($lane, $durability, |$tx| ::toolwire_db::scoped(async move $work)).await
    };
}
