//! Reddit's addresses, and our identity there. Not here: how it is configured.

use http::HeaderValue;
use url::Url;

use super::credentials::Credentials;
use toolwire_sources::upstream::now::Now;

/// Reddit's addresses, and our identity there.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the API is, such as `https://oauth.reddit.com/`. Ends in `/`.
    pub api_url: Url,
    /// Where tokens are given out, such as `https://www.reddit.com/`. Ends in `/`.
    pub token_url: Url,
    /// Where people read: the beginning of a post's address. Ends in `/`.
    pub public_url: Url,
    /// `<platform>:<app>:<version> (by /u/<name>)`, as Reddit asks for.
    pub user_agent: HeaderValue,
    /// The application's credentials. Without them every request fails, saying that they are missing.
    pub credentials: Option<Credentials>,
    /// What time it is there.
    pub now: Now,
}
