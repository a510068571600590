//! Cool-downs.

use std::{sync::Arc, time::Duration};

use crate::support::state;
use tempfile::TempDir;
use toolwire::{
    contract::ErrorCode,
    state::{
        MemoryCoolDowns, RememberedCoolDowns,
        cool_downs::{CoolDown, CoolDowns},
    },
};

use super::{SECOND, in_file, now, user};

fn stores() -> (Vec<Arc<dyn CoolDowns>>, TempDir) {
    let (file, directory) = in_file();
    let remembered = RememberedCoolDowns::new(Arc::new(state::fresh()), ["nse", "screener", "yahoo"]);
    let in_memory: [Arc<dyn CoolDowns>; 3] =
        [Arc::new(MemoryCoolDowns::default()), Arc::new(remembered), Arc::new(state::fresh())];
    (in_memory.into_iter().chain([file as Arc<dyn CoolDowns>]).collect(), directory)
}

fn of(code: ErrorCode, after: Duration) -> CoolDown {
    CoolDown { code, reason: format!("{} for {} s", code.into_str(), after.as_secs()), until: now() + after }
}

#[tokio::test]
async fn a_cool_down_is_in_force_until_its_end() {
    let (stores, _directory) = stores();
    for store in stores {
        let blocked = of(ErrorCode::Blocked, 60 * SECOND);
        store.begin("nse", None, &blocked).await.unwrap();
        let at = async |after| store.in_force("nse", &user("a"), now() + after).await.unwrap();
        assert_eq!(at(59 * SECOND).await, Some(blocked), "{store:?}");
        assert_eq!(at(60 * SECOND).await, None, "{store:?}");
        assert_eq!(store.in_force("yahoo", &user("a"), now()).await.unwrap(), None, "{store:?}");
    }
}

#[tokio::test]
async fn a_users_own_is_nobody_elses_and_the_longer_one_counts() {
    let (stores, _directory) = stores();
    for store in stores {
        let (of_all, of_one) = (of(ErrorCode::Blocked, 10 * SECOND), of(ErrorCode::AuthFailed, 20 * SECOND));
        store.begin("screener", Some(&user("a")), &of_one).await.unwrap();
        assert_eq!(store.in_force("screener", &user("b"), now()).await.unwrap(), None, "{store:?}");
        store.begin("screener", None, &of_all).await.unwrap();
        let at = async |name, after| store.in_force("screener", &user(name), now() + after).await.unwrap();
        assert_eq!(at("a", SECOND).await, Some(of_one.clone()), "{store:?}");
        assert_eq!(at("b", SECOND).await, Some(of_all), "{store:?}");
        assert_eq!(at("a", 15 * SECOND).await, Some(of_one), "{store:?}");
        assert_eq!(at("b", 15 * SECOND).await, None, "{store:?}");
    }
}

#[tokio::test]
async fn a_second_one_never_ends_the_first_sooner() {
    let (stores, _directory) = stores();
    for store in stores {
        let (short, long) = (of(ErrorCode::Blocked, 10 * SECOND), of(ErrorCode::AuthFailed, 20 * SECOND));
        for (begun, expected) in [(&short, &short), (&long, &long), (&short, &long)] {
            store.begin("nse", None, begun).await.unwrap();
            assert_eq!(store.in_force("nse", &user("a"), now()).await.unwrap().as_ref(), Some(expected));
        }
    }
}

#[tokio::test]
async fn those_of_sources_are_listed_without_those_of_users() {
    let (stores, _directory) = stores();
    for store in stores {
        let blocked = of(ErrorCode::Blocked, 10 * SECOND);
        let long = of(ErrorCode::Blocked, 60 * SECOND);
        store.begin("yahoo", None, &long).await.unwrap();
        store.begin("nse", None, &blocked).await.unwrap();
        store.begin("screener", Some(&user("a")), &long).await.unwrap();
        let listed = async |after| store.of_sources(now() + after).await.unwrap();
        let both = [("nse".to_owned(), blocked), ("yahoo".to_owned(), long.clone())];
        assert_eq!(listed(SECOND).await, both, "{store:?}");
        assert_eq!(listed(10 * SECOND).await, [("yahoo".to_owned(), long)], "{store:?}");
    }
}

#[tokio::test]
async fn a_cool_down_outlives_the_process() {
    let (store, directory) = in_file();
    let blocked = of(ErrorCode::Blocked, 60 * SECOND);
    CoolDowns::begin(&*store, "nse", None, &blocked).await.unwrap();
    drop(store);
    let store = state::at(directory.path());
    assert_eq!(store.in_force("nse", &user("a"), now()).await.unwrap(), Some(blocked));
}
