//! Hold-offs.

use std::{sync::Arc, time::Duration};

use crate::support::state;
use tempfile::TempDir;
use toolwire::state::{
    MemoryHoldOffs, RememberedHoldOffs,
    hold_offs::{HoldOff, HoldOffs},
};

use super::{SECOND, in_file, now};

fn stores() -> (Vec<Arc<dyn HoldOffs>>, TempDir) {
    let (file, directory) = in_file();
    let remembered = RememberedHoldOffs::new(Arc::new(state::fresh()), ["news"]);
    let in_memory: [Arc<dyn HoldOffs>; 2] = [Arc::new(MemoryHoldOffs::default()), Arc::new(remembered)];
    (in_memory.into_iter().chain([file as Arc<dyn HoldOffs>]).collect(), directory)
}

fn of(after: Duration) -> HoldOff {
    HoldOff { reason: format!("A pause of {} s.", after.as_secs()), until: now() + after }
}

#[tokio::test]
async fn a_hold_off_is_in_force_until_its_end_for_its_source_or_part_alone() {
    let (stores, _directory) = stores();
    for store in stores {
        let (short, long) = (of(10 * SECOND), of(60 * SECOND));
        store.begin("news/gazette", &long).await.unwrap();
        store.begin("news", &short).await.unwrap();
        store.begin("newspaper", &short).await.unwrap();
        let at = async |after| store.of_source("news", now() + after).await.unwrap();
        let both = [("news".to_owned(), short), ("news/gazette".to_owned(), long.clone())];
        assert_eq!(at(9 * SECOND).await, both, "{store:?}");
        assert_eq!(at(10 * SECOND).await, [("news/gazette".to_owned(), long)], "{store:?}");
        assert_eq!(at(60 * SECOND).await, [], "{store:?}");
        assert_eq!(store.of_source("toys", now()).await.unwrap(), [], "{store:?}");
    }
}

#[tokio::test]
async fn a_second_one_never_ends_the_first_sooner() {
    let (stores, _directory) = stores();
    for store in stores {
        let (short, long) = (of(10 * SECOND), of(20 * SECOND));
        for (begun, expected) in [(&short, &short), (&long, &long), (&short, &long)] {
            store.begin("news", begun).await.unwrap();
            let found = store.of_source("news", now()).await.unwrap();
            assert_eq!(found, [("news".to_owned(), expected.clone())], "{store:?}");
        }
    }
}

#[tokio::test]
async fn a_hold_off_outlives_the_process() {
    let (store, directory) = in_file();
    HoldOffs::begin(&*store, "news", &of(60 * SECOND)).await.unwrap();
    drop(store);
    let found = state::at(directory.path()).of_source("news", now()).await.unwrap();
    assert_eq!(found, [("news".to_owned(), of(60 * SECOND))]);
}
