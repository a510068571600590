//! Where Yahoo Finance is, and when. Not here: how it is configured.

use url::Url;

use toolwire_sources::upstream::now::Now;

/// Where Yahoo Finance is, and when.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Base of the data, such as `https://query2.finance.yahoo.com/`. Ends in `/`.
    pub base: Url,
    /// What gives the cookie, such as `https://fc.yahoo.com/`. Ends in `/`.
    pub cookie_base: Url,
    pub now: Now,
}
