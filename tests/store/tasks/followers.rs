//! Followers read by cursor: every entry once and in order, whoever writes and however often the store is opened again.

use tokio::time::timeout;

use super::*;

/// Reads what follows a cursor.
async fn read(tasks: &Store, id: &TaskId, seen: &mut Vec<u64>) {
    loop {
        let from = Some(seen.len() as u64);
        let page = PageRequest { from, backwards: false, limit: 7 };
        let page = tasks.timeline_page(&riley(), id, page).await.unwrap();
        if page.entries.is_empty() {
            break;
        }
        seen.extend(page.entries.iter().map(|entry| entry.sequence));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_has_each_entry_once_and_in_order_over_stores_that_are_opened_again() {
    const ENTRIES: usize = 60;
    let mut house = House::new();
    let root = house.root().await;
    let reader = house.other();
    let id = root.id.clone();
    let following = tokio::spawn(async move {
        let mut committed = reader.follow_tasks().await.unwrap();
        let mut seen = Vec::new();
        while seen.len() < ENTRIES + 1 {
            committed.mark_unchanged();
            read(&reader, &id, &mut seen).await;
            if seen.len() < ENTRIES + 1 {
                timeout(60 * SECOND, committed.changed()).await.expect("another process is seen").unwrap();
            }
        }
        seen
    });
    for round in 0..6 {
        for _ in 0..ENTRIES / 6 {
            house.execute(&root, round).await;
        }
        house = house.again();
    }
    assert_eq!(following.await.unwrap(), (0..=ENTRIES as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_this_process_commits_is_told_at_once() {
    let house = House::new();
    let root = house.root().await;
    let mut committed = house.tasks().follow_tasks().await.unwrap();
    committed.mark_unchanged();
    house.execute(&root, 1).await;
    assert!(committed.has_changed().unwrap());
}
