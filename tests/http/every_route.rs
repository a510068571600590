//! Promises that hold on every route: a case for each row of the table of routes, and what all of them have in common.
//!
//! A route without a case fails, so that a new one is looked at.

mod alike;
mod cases;
mod confirming;
mod policy;
mod query;
mod secrets;
mod turns;
mod users;
mod world;

use std::collections::BTreeSet;

use toolwire::{
    config::Config,
    domains,
    server::{domain::Domain, faces::routes},
    transport::rules::Access,
};

use self::{
    cases::{Whose, cases},
    world::Planted,
};

/// Every route that is served: its method and path, and whether anybody may ask it.
fn served() -> BTreeSet<(String, bool)> {
    let of_domains = domains::bundled().iter().flat_map(Domain::all_routes).collect();
    let table = routes::table(&Config::default().http, of_domains).unwrap();
    let row = |(method, path, rule): (&::http::Method, &str, toolwire::transport::rules::Rule)| {
        (format!("{method} {path}"), rule.access == Access::Public)
    };
    table.iter().map(row).collect()
}

#[test]
fn every_route_has_a_case_and_the_public_ones_are_these() {
    let had: BTreeSet<_> = cases(&Planted::nothing())
        .iter()
        .map(|case| (case.route.to_owned(), case.whose == Whose::Anybodys))
        .collect();
    assert_eq!(had, served(), "add a case for what is new, and take out what is gone");
    let public: Vec<_> = had.iter().filter(|(_, is_public)| *is_public).map(|(route, _)| &**route).collect();
    assert_eq!(
        public,
        [
            "GET /",
            "GET /.well-known/oauth-protected-resource",
            "GET /.well-known/oauth-protected-resource/mcp",
            "GET /.well-known/oauth-protected-resource/mcp/{toolset}",
            "GET /elements/{file}",
            "GET /errors/{code}",
            "GET /icon.svg",
            "GET /lib/{file}",
            "GET /main.js",
            "GET /screens/{file}",
            "GET /style.css",
            "GET /v1/console",
            "GET /vendor/{file}",
        ],
        "who may ask it without credentials learns nothing of anybody"
    );
}
