//! The pages of Screener.in as they are met: the login form, and a page of a screen.
//!
//! Not here: the table within (`table`). A page is hostile until it is read: it is bounded before it is parsed.

use scraper::Html;

use super::{selector::selector, table};
use crate::sources::attributes;
use toolwire_sources::upstream::{http::Failure, text::Line};

pub(super) use super::table::Row;

/// More elements left open than any page of the site has: parsing time grows with the square of it.
const MAX_OPEN: usize = 256;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Page {
    pub(super) name: Option<Line>,
    /// The results on it.
    pub(super) rows: Vec<Row>,
    /// The results of all pages.
    pub(super) total: usize,
    /// Which page it is, from 1.
    pub(super) number: usize,
    /// How many there are.
    pub(super) pages: usize,
}

/// Reads a page of a screen.
pub(super) fn read(html: &str) -> Result<Page, Failure> {
    let page = parse(html)?;
    let info = page.select(&selector("div[data-page-info]")).next();
    let info =
        info.ok_or_else(|| Failure::malformed("a page that does not say how many results there are"))?;
    let info = info.text().collect::<String>();
    let (total, number, pages) = counts(&info).ok_or_else(|| {
        Failure::malformed(format!("page info {:?}", info.chars().take(80).collect::<String>()))
    })?;
    Ok(Page { name: name(&page), rows: table::read(&page)?, total, number, pages })
}

/// The heading, unless it is empty.
fn name(page: &Html) -> Option<Line> {
    let heading = page.select(&selector("h1")).next()?;
    Some(Line::of(&heading.text().collect::<String>())).filter(|name| !name.is_empty())
}

/// Whether a page is that of an anonymous visitor: neither the link to the account nor the form to sign out.
pub(super) fn is_anonymous(html: &str) -> bool {
    let signs = selector(r#"a[href="/user/account/"], form[action="/logout/"]"#);
    parse(html).is_ok_and(|page| page.select(&signs).next().is_none())
}

/// The token of the login form.
pub(super) fn csrf_token(html: &str) -> Option<String> {
    let page = parse(html).ok()?;
    let token = page.select(&selector("input[name=csrfmiddlewaretoken]")).next()?.attr("value")?;
    (!token.is_empty() && token.len() <= 256).then(|| token.to_owned())
}

fn parse(html: &str) -> Result<Html, Failure> {
    if left_open(html) > MAX_OPEN {
        return Err(Failure::malformed("a page whose elements nest too deep"));
    }
    if attributes::max_per_tag(html) > attributes::MAX_PER_TAG {
        return Err(Failure::malformed("a page with more attributes in a tag than are read"));
    }
    Ok(Html::parse_document(html))
}

/// How many elements are open at most at the same time, those included that need no end tag. Stops counting beyond the
/// bound. As in a browser, an end tag of what is not open closes nothing.
fn left_open(html: &str) -> usize {
    let mut open: Vec<String> = Vec::new();
    let mut most = 0;
    for after in html.split('<').skip(1) {
        match after.strip_prefix('/') {
            Some(end) => {
                let name = tag_name(end);
                if let Some(index) = open.iter().rposition(|other| *other == name) {
                    open.truncate(index);
                }
            }
            None if after.starts_with(|c: char| c.is_ascii_alphabetic()) && !is_void(after) => {
                open.push(tag_name(after));
            }
            None => {}
        }
        most = most.max(open.len());
        if most > MAX_OPEN {
            break;
        }
    }
    most
}

fn tag_name(after: &str) -> String {
    after.chars().take(32).take_while(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

/// Elements that never hold anything.
fn is_void(tag: &str) -> bool {
    let name: String = tag.chars().take(7).take_while(char::is_ascii_alphanumeric).collect();
    ["br", "col", "hr", "img", "input", "link", "meta", "path", "source"]
        .iter()
        .any(|void| name.eq_ignore_ascii_case(void))
}

/// `169 results found: Showing page 1 of 4`.
fn counts(text: &str) -> Option<(usize, usize, usize)> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let (total, rest) = text.split_once(" result")?;
    let total = number(total)?;
    match rest.split_once("page ") {
        None if total == 0 => Some((0, 1, 1)),
        None => None,
        Some((_, pages)) => {
            let (page, pages) = pages.split_once(" of ")?;
            let (page, pages) = (number(page)?, number(pages)?);
            (1 <= page && page <= pages).then_some((total, page, pages))
        }
    }
}

fn number(text: &str) -> Option<usize> {
    text.trim().replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_results_and_pages_is_read() {
        assert_eq!(counts(" 169 results found:\n  Showing page 1 of 4 "), Some((169, 1, 4)));
        assert_eq!(counts("1,169 results found: Showing page 24 of 24"), Some((1169, 24, 24)));
        assert_eq!(counts("1 result found: Showing page 1 of 1"), Some((1, 1, 1)));
        assert_eq!(counts("0 results found"), Some((0, 1, 1)));
    }

    #[test]
    fn what_does_not_say_how_much_there_is_is_refused() {
        for text in ["", "results", "many results found: Showing page 1 of 4", "12 results found"] {
            assert_eq!(counts(text), None, "{text:?}");
        }
        for text in ["1 results: page 0 of 1", "1 results: page 2 of 1", "1 results: page -1 of 1"] {
            assert_eq!(counts(text), None, "{text:?}");
        }
    }

    #[test]
    fn elements_without_an_end_do_not_count_as_nesting() {
        assert_eq!(left_open("<div><br><img src=x><input><p>a < b</p></div>"), 2);
        assert!(left_open(&"<div>".repeat(5000)) > MAX_OPEN);
        assert!(left_open(&"<div></i>".repeat(5000)) > MAX_OPEN, "an end of what is not open closes nothing");
    }

    #[test]
    fn a_bomb_of_nested_elements_is_refused_before_it_is_parsed() {
        let failure = read(&"<div>".repeat(300_000)).unwrap_err();
        assert!(failure.detail.contains("nest too deep"), "{failure}");
    }

    #[test]
    fn a_tag_of_countless_attributes_is_refused_before_it_is_parsed() {
        let attributes = (0..100_000).map(|n| format!(" a{n}")).collect::<Vec<_>>().concat();
        for tag in [format!("<p{attributes}>"), format!("<svg><style><p =\"><q x='\">'{attributes}>")] {
            let failure = read(&tag).unwrap_err();
            assert!(failure.detail.contains("attributes"), "{failure}");
        }
    }

    #[test]
    fn the_form_has_its_token() {
        let form = r#"<form><input type="hidden" name="csrfmiddlewaretoken" value="abc"></form>"#;
        assert_eq!(csrf_token(form).as_deref(), Some("abc"));
        assert_eq!(csrf_token(&form.replace("abc", "")), None);
        assert_eq!(csrf_token("<html>Just a moment…</html>"), None);
    }

    #[test]
    fn a_page_is_anonymous_without_account_and_without_a_way_out() {
        assert!(is_anonymous("<a href='/login/'>Login</a> text with /user/account/ in it"));
        assert!(!is_anonymous("<a href='/user/account/'>me</a>"));
        assert!(!is_anonymous("<form action='/logout/' method='post'></form>"));
    }

    #[test]
    fn the_bundled_pages_are_read_whole() {
        let pages = ["1", "2"].map(|number| {
            let path =
                format!("{}/data/research/screener/screens/101/50/{number}.html", env!("CARGO_MANIFEST_DIR"));
            read(&std::fs::read_to_string(path).unwrap()).unwrap()
        });
        let [first, second] = &pages;
        assert_eq!(first.name.as_deref(), Some("Large and steady"));
        assert_eq!((first.number, first.pages, second.number, second.pages), (1, 2, 2, 2));
        assert_eq!(first.rows.len() + second.rows.len(), first.total);
        let stocks: Vec<_> =
            pages.iter().flat_map(|page| &page.rows).filter_map(|row| row.stock.as_ref()).collect();
        assert!(stocks.iter().any(|stock| stock.symbol == "M&MFIN"), "{stocks:?}");
        assert!(stocks.iter().any(|stock| stock.pe.is_none()), "a stock that makes a loss");
    }
}
