//! docs/HTTP.md lists the routes that are served, each with a word on what it is.
//!
//! `UPDATE_PAGE=1 cargo test --test suite http::page::` writes the list anew and keeps the words that stand there.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use toolwire::{
    config::Config,
    domains,
    server::{domain::Domain, faces::routes},
};

const BEGIN: &str = "<!-- routes -->\n";
const END: &str = "<!-- /routes -->";
const HEAD: &str = "| method | path | what it is |\n|---|---|---|\n";

/// The words of each row that stands there, by method and path.
fn words(list: &str) -> BTreeMap<(String, String), String> {
    let row = |line: &str| {
        let mut cells = line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
        let (method, path, words) = (cells.next()?, cells.next()?, cells.next()?);
        Some(((method, path.trim_matches('`').to_owned()), words))
    };
    list.lines().skip(2).filter_map(row).collect()
}

#[test]
fn the_page_lists_the_routes_that_are_served_and_says_what_each_is() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/HTTP.md");
    let text = fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (list, after) = rest.split_once(END).unwrap();
    let words = words(list);
    let of_domains = domains::bundled().iter().flat_map(Domain::all_routes).collect();
    let table = routes::table(&Config::default().http, of_domains).unwrap();
    let mut rows: Vec<_> =
        table.iter().map(|(method, path, _)| (path.to_owned(), method.to_string())).collect();
    rows.sort();
    let mut expected = HEAD.to_owned();
    let mut without = Vec::new();
    for (path, method) in rows {
        let said = words.get(&(method.clone(), path.clone())).cloned().unwrap_or_default();
        let _ = writeln!(expected, "| {method} | `{path}` | {said} |");
        if said.is_empty() {
            without.push(format!("{method} {path}"));
        }
    }
    if std::env::var_os("UPDATE_PAGE").is_some() {
        fs::write(&page, [before, BEGIN, &expected, END, after].concat()).unwrap();
    } else {
        assert_eq!(list, expected, "write the list anew with UPDATE_PAGE=1");
        assert!(without.is_empty(), "say what these are: {without:?}");
    }
}
