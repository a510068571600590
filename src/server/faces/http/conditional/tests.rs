//! Conditions by the rules of RFC 9110 §13.

use std::time::Duration;

use http::HeaderValue;

use super::{
    Verdict::{Failed, NotModified, Proceed},
    *,
};

const OURS: &str = "\"a\"";

fn read(pairs: &[(&'static str, &[u8])]) -> Result<Option<Conditions>, Refusal> {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(*name, HeaderValue::from_bytes(value).unwrap());
    }
    Conditions::read(&headers)
}

fn verdict(pairs: &[(&'static str, &str)], is_read: bool) -> Verdict {
    let pairs: Vec<_> = pairs.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
    let current = Validators { etag: Some(OURS), last_modified: Some(at(1_000)) };
    read(&pairs).unwrap().map_or(Verdict::Proceed, |it| it.verdict(is_read, Some(&current)))
}

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

#[test]
fn tags_come_before_dates_and_if_match_before_if_none_match() {
    let (then, now) = ("Thu, 01 Jan 1970 00:16:39 GMT", "Thu, 01 Jan 1970 00:16:40 GMT");
    for (pairs, read, write) in [
        (vec![("if-unmodified-since", then)], Failed, Failed),
        (vec![("if-unmodified-since", now)], Proceed, Proceed),
        (vec![("if-match", "\"a\""), ("if-unmodified-since", then)], Proceed, Proceed),
        (vec![("if-modified-since", now)], NotModified, Proceed),
        (vec![("if-modified-since", then)], Proceed, Proceed),
        (vec![("if-none-match", "\"b\""), ("if-modified-since", now)], Proceed, Proceed),
        (vec![("if-match", "\"b\""), ("if-none-match", "\"a\"")], Failed, Failed),
        (vec![("if-match", "\"a\""), ("if-none-match", "\"a\"")], NotModified, Failed),
        (vec![("if-match", "\"a\""), ("if-none-match", "\"b\"")], Proceed, Proceed),
        (vec![("if-unmodified-since", "soon")], Proceed, Proceed),
        (vec![("if-modified-since", now), ("if-modified-since", now)], Proceed, Proceed),
    ] {
        assert_eq!((verdict(&pairs, true), verdict(&pairs, false)), (read, write), "{pairs:?}");
    }
}

#[test]
fn what_is_no_list_of_tags_is_refused() {
    for tags in
        ["a", "\"a", "a\"", "*, \"a\"", "*, *", "\"a\" \"b\"", "w/\"a\"", "W/ \"a\"", "\"a b\"", "\"a\";q=1"]
    {
        assert!(read(&[("if-match", tags.as_bytes())]).is_err(), "{tags}");
    }
    let lines = read(&[("if-match", b"\"a\""), ("if-match", b"\"\xff\"")]).unwrap().unwrap();
    assert!(matches!(lines.if_match, Some(Tags::Listed(tags)) if tags.len() == 2));
    assert_eq!(read(&[("etag", b"\"a\"")]), Ok(None));
}
