//! Members of a shared commit, and the effect on the others when one fails or is dropped.

use std::{future::Future, pin::Pin, task::Poll};

use futures_util::{future::join_all, poll};
use tempfile::TempDir;

use super::{
    batch::{MAX_AGE, MAX_BYTES},
    *,
};
use crate::{
    Database, Migrations, Tx,
    sql::{Statement, sql},
};
use sqlx::raw_sql;
use toolwire_base::offload;

/// A table of numbers, in a file.
struct House {
    state: Database,
    _directory: TempDir,
}

type Begun<'a> = Pin<Box<dyn Future<Output = Result<Tx, Error>> + 'a>>;

impl House {
    async fn open() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let state = Database::at(directory.path(), Migrations::none());
        let mut change = state.change(Durability::Power).await.unwrap();
        raw_sql("CREATE TABLE numbers (number INTEGER PRIMARY KEY, filler BLOB)")
            .execute(change.sqlite().unwrap())
            .await
            .unwrap();
        change.commit().await.unwrap();
        Self { state, _directory: directory }
    }

    async fn adding(&self, number: i64) -> Tx {
        add(self.state.change(Durability::Power).await.unwrap(), number).await
    }

    /// This many transactions that wait for the writer.
    async fn waiting(&self, count: usize) -> Vec<Begun<'_>> {
        let mut all: Vec<Begun<'_>> = Vec::new();
        for _ in 0..count {
            let mut begun: Begun<'_> = Box::pin(self.state.change(Durability::Power));
            assert!(poll!(&mut begun).is_pending());
            all.push(begun);
        }
        all
    }

    async fn numbers(&self) -> Vec<i64> {
        let numbers: Statement<i64> = sql!("SELECT number FROM numbers ORDER BY number");
        numbers.all(&mut self.state.reader().await.unwrap()).await.unwrap()
    }
}

async fn add(mut change: Tx, number: i64) -> Tx {
    let add: Statement = sql!("INSERT INTO numbers VALUES ({number}, NULL)");
    add.run(&mut change).await.unwrap();
    change
}

#[tokio::test]
async fn users_take_turns_at_the_writer() {
    let house = House::open().await;
    let first = house.adding(0).await;
    let mut waiting: Vec<(&str, Begun<'_>)> = Vec::new();
    for user in ["a", "a", "a", "b"] {
        let change = house.state.change(Durability::Power);
        let mut begun: Begun<'_> = Box::pin(offload::on_behalf(Arc::from(user), change));
        assert!(poll!(&mut begun).is_pending());
        waiting.push((user, begun));
    }
    drop(first);
    let mut order = String::new();
    while !waiting.is_empty() {
        for at in (0..waiting.len()).rev() {
            if let Poll::Ready(begun) = poll!(&mut waiting[at].1) {
                drop(begun.unwrap());
                order.push_str(waiting.remove(at).0);
            }
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(order, "abaa");
}

#[tokio::test]
async fn changes_that_come_meanwhile_share_a_commit() {
    let house = House::open().await;
    let first = house.adding(0).await;
    let mut waiting = house.waiting(9).await;
    let mut ends = vec![Box::pin(first.commit())];
    for (number, begun) in (1..).zip(&mut waiting) {
        assert!(poll!(ends.last_mut().unwrap()).is_pending());
        assert_eq!(house.numbers().await, [0; 0], "nothing is stored until the last one has had its turn");
        ends.push(Box::pin(add(begun.await.unwrap(), number).await.commit()));
    }
    assert!(join_all(ends).await.iter().all(Result::is_ok));
    assert_eq!(house.numbers().await, (0..10).collect::<Vec<_>>());
}

/// A full batch is committed although others wait; these begin another one.
async fn committed_alone(first: Tx, house: &House) {
    let mut waiting = house.waiting(1).await;
    timeout(ACQUIRE_TIMEOUT, first.commit()).await.expect("who waits is not waited for").unwrap();
    assert_eq!(house.numbers().await, [0]);
    add(waiting.pop().unwrap().await.unwrap(), 1).await.commit().await.unwrap();
    assert_eq!(house.numbers().await, [0, 1]);
}

#[tokio::test]
async fn a_group_of_many_bytes_takes_no_other_change() {
    let house = House::open().await;
    let mut first = house.adding(0).await;
    first.adds(MAX_BYTES);
    committed_alone(first, &house).await;
}

#[tokio::test]
async fn an_old_group_takes_no_other_change() {
    let house = House::open().await;
    let first = house.adding(0).await;
    tokio::time::pause();
    tokio::time::advance(MAX_AGE).await;
    tokio::time::resume();
    committed_alone(first, &house).await;
}

#[tokio::test]
async fn a_change_that_is_given_up_harms_no_other() {
    let house = House::open().await;
    let first = house.adding(0).await;
    let [mut second, mut third] = <[_; 2]>::try_from(house.waiting(2).await).ok().unwrap();
    let mut first = Box::pin(first.commit());
    assert!(poll!(&mut first).is_pending());
    drop(add((&mut second).await.unwrap(), 1).await);
    let third = add((&mut third).await.unwrap(), 2).await;
    third.commit().await.unwrap();
    first.await.unwrap();
    assert_eq!(house.numbers().await, [0, 2]);
}

#[tokio::test]
async fn the_last_change_that_is_given_up_commits_those_before_it() {
    let house = House::open().await;
    let first = house.adding(0).await;
    let [mut second] = <[_; 1]>::try_from(house.waiting(1).await).ok().unwrap();
    let mut first = Box::pin(first.commit());
    assert!(poll!(&mut first).is_pending());
    drop(add((&mut second).await.unwrap(), 1).await);
    first.await.unwrap();
    assert_eq!(house.numbers().await, [0]);
}

#[tokio::test]
async fn who_gives_up_waiting_leaves_nobody_without_a_commit() {
    let house = House::open().await;
    let first = house.adding(0).await;
    let waiting = house.waiting(3).await;
    let mut first = Box::pin(first.commit());
    assert!(poll!(&mut first).is_pending());
    drop(waiting);
    first.await.unwrap();
    assert_eq!(house.numbers().await, [0]);
}

#[tokio::test]
async fn a_change_that_is_given_up_while_it_joins_leaves_no_other_without_a_commit() {
    let house = House::open().await;
    let first = house.adding(0).await;
    let [mut second] = <[_; 1]>::try_from(house.waiting(1).await).ok().unwrap();
    let mut first = Box::pin(first.commit());
    assert!(poll!(&mut first).is_pending());
    // Now it waits no longer, and holds the batch that was left open for it.
    let _: Poll<_> = poll!(&mut second);
    drop(second);
    timeout(ACQUIRE_TIMEOUT, first).await.expect("another commits it").unwrap();
    assert_eq!(house.numbers().await, [0]);
}

#[tokio::test]
async fn a_change_that_is_given_up_while_it_commits_the_batch_before_it_harms_none_of_that_batch() {
    let house = House::open().await;
    let first = add(house.state.change(Durability::Process).await.unwrap(), 0).await;
    let [mut second] = <[_; 1]>::try_from(house.waiting(1).await).ok().unwrap();
    let mut first = Box::pin(first.commit());
    assert!(poll!(&mut first).is_pending());
    let _: Poll<_> = poll!(&mut second);
    drop(second);
    first.await.unwrap();
    assert_eq!(house.numbers().await, [0]);
}

#[tokio::test]
async fn a_commit_whose_caller_has_left_is_made() {
    let house = House::open().await;
    let first = house.adding(0).await;
    let [mut second] = <[_; 1]>::try_from(house.waiting(1).await).ok().unwrap();
    let mut first = Box::pin(first.commit());
    assert!(poll!(&mut first).is_pending());
    let mut second = Box::pin(add((&mut second).await.unwrap(), 1).await.commit());
    let _: Poll<_> = poll!(&mut second);
    drop(second);
    first.await.unwrap();
    assert_eq!(house.numbers().await, [0, 1]);
}

#[tokio::test]
async fn what_outlasts_a_loss_of_power_does_not_join_what_does_not() {
    let house = House::open().await;
    let first = add(house.state.change(Durability::Process).await.unwrap(), 0).await;
    let [mut second] = <[_; 1]>::try_from(house.waiting(1).await).ok().unwrap();
    let mut first = Box::pin(first.commit());
    assert!(poll!(&mut first).is_pending());
    let second = add((&mut second).await.unwrap(), 1).await;
    assert_eq!(house.numbers().await, [0], "the group before is committed first");
    first.await.unwrap();
    second.commit().await.unwrap();
    assert_eq!(house.numbers().await, [0, 1]);
}

#[tokio::test]
async fn where_the_database_ends_the_transaction_nobody_of_the_group_is_told_that_it_is_stored() {
    let house = House::open().await;
    let first = house.adding(0).await;
    let [mut second, mut third] = <[_; 2]>::try_from(house.waiting(2).await).ok().unwrap();
    let mut first = Box::pin(first.commit());
    assert!(poll!(&mut first).is_pending());
    let mut second = (&mut second).await.unwrap();
    // As SQLite does by itself where a disk is full.
    raw_sql("ROLLBACK").execute(second.sqlite().unwrap()).await.unwrap();
    drop(second);
    let third = add((&mut third).await.unwrap(), 2).await;
    first.await.unwrap_err();
    third.commit().await.unwrap();
    assert_eq!(house.numbers().await, [2]);
}
