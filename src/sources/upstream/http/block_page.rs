//! Pages in front of a site that are known to block the client.
//!
//! No other page with a 200 counts as a block: it may be a maintenance, a log-in or a fault of the site, which must not
//! start a cool-down of hours. A page that only one source shows is in its own `check`.

use super::Answer;

/// Maximum number of bytes in which the title of a page is searched.
const HEAD: usize = 4096;

/// Titles of the pages with which content delivery networks refuse: Cloudflare's challenge and block, Akamai's block.
const TITLES: [&str; 3] = [
    "<title>just a moment...</title>",
    "<title>attention required! | cloudflare</title>",
    "<title>access denied</title>",
];

/// Whether an answer is such a page.
pub(super) fn is_block_page(answer: &Answer) -> bool {
    let challenge = answer.headers.get("cf-mitigated").is_some_and(|value| value == "challenge");
    challenge || (answer.is_html() && has_title(&answer.body))
}

fn has_title(page: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&page[..page.len().min(HEAD)]).to_lowercase();
    TITLES.iter().any(|title| head.contains(title))
}
