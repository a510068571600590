//! A text as a search: every one is a query within bounds, of nothing but terms that an index takes for words.

use toolwire::state::workspace::{
    query::{self, Query},
    terms,
};

/// Reads a query.
pub fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let query = Query::parse(&text);
    assert_eq!(query, Query::parse(&text));
    assert!(query.find.len() + query.without.len() <= query::MAX_PHRASES);
    for phrase in query.find.iter().chain(&query.without) {
        assert!(!phrase.is_empty());
        for term in phrase {
            assert!((1..=terms::MAX_BYTES).contains(&term.len()));
            assert!(term.chars().all(char::is_alphanumeric), "{term}");
        }
    }
}
