//! The selectors of what is read in a page.

use scraper::Selector;

/// Parses a selector that stands in this program.
pub(super) fn selector(css: &str) -> Selector {
    Selector::parse(css).expect("selectors are written here")
}
