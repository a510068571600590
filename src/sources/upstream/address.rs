//! Addresses of requests: a path and a query below a configured base, every part escaped.
//!
//! Not here: addresses that a source names itself.

use url::Url;

/// The address of a path below the base, with a query if it has pairs. A segment stays one, whatever stands in it.
pub fn address(base: &Url, path: &[&str], query: &[(&str, &str)]) -> Url {
    let mut url = base.clone();
    url.path_segments_mut()
        .expect("the base is an http address, which has a path")
        .pop_if_empty()
        .extend(path);
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_leaves_its_place() {
        let base = Url::parse("http://127.0.0.1:9/toy/").unwrap();
        let url = address(&base, &["v8", "chart", "A/B?C#D.NS"], &[("symbol", "M&M"), ("to", "a=b c")]);
        assert_eq!(url.as_str(), "http://127.0.0.1:9/toy/v8/chart/A%2FB%3FC%23D.NS?symbol=M%26M&to=a%3Db+c");
        assert_eq!(address(&base, &["M&M.NS"], &[]).as_str(), "http://127.0.0.1:9/toy/M&M.NS");
    }
}
