//! Nothing of a query is dropped: a parameter that a route does not know is refused, and one that it knows is given
//! once.

use super::{
    cases::{Case, Whose, cases},
    world::{OWNER, Planted, World, send},
};

#[tokio::test]
async fn a_parameter_that_a_route_does_not_know_is_refused() {
    let world = World::new();
    // In the address of the page an issuer answers, with parameters of its own.
    for case in cases(&Planted::nothing()).into_iter().filter(|case| case.route != "GET /") {
        let separator = if case.path.contains('?') { '&' } else { '?' };
        let path = format!("{}{separator}surplus=1", case.path);
        let credentials = (case.whose != Whose::Anybodys).then_some(OWNER);
        let answer = send(world.address, credentials, &Case { path, ..case.clone() }).await;
        assert!(matches!(answer.status, 400 | 422), "{}: {answer:?}", case.route);
        assert!(answer.body.contains("surplus"), "{}: {answer:?}", case.route);
    }
}

#[tokio::test]
async fn a_parameter_that_is_given_twice_is_refused() {
    let world = World::new();
    for path in [
        "/api/quotes?symbol=AAPL&symbol=MSFT",
        "/api/activity?limit=1&limit=2",
        "/v1/tools?text=a&text=b",
        "/v1/tasks?page_size=1&page_size=2",
        "/v1/calls?task_id=a&task_id=b",
    ] {
        let answer = send(world.address, Some(OWNER), &Case::of("GET", path)).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "INVALID_REQUEST"), "{path}: {answer:?}");
        assert!(answer.body.contains("once"), "{path}: {answer:?}");
    }
}
