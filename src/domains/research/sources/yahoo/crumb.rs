//! The crumb: a cookie and a short text that belongs to it.
//!
//! Not here: keeping it (`token`), nor what a refusal of one means (`check`).

use ::http::{HeaderValue, header};
use secrecy::{ExposeSecret, SecretString};

use super::{request, settings::Settings};
use toolwire_sources::upstream::http::{Client, Failure};
use toolwire_tool::context::ToolContext;

/// More than the 11 characters that a crumb has, and less than a page.
const MAX_LENGTH: usize = 64;

#[derive(Debug)]
pub(super) struct Crumb {
    cookie: HeaderValue,
    text: SecretString,
}

impl Crumb {
    pub(super) fn cookie(&self) -> HeaderValue {
        self.cookie.clone()
    }

    pub(super) fn text(&self) -> &str {
        self.text.expose_secret()
    }
}

/// A new one: two requests.
pub(super) async fn fetch(
    client: &Client,
    settings: &Settings,
    context: &ToolContext,
) -> Result<Crumb, Failure> {
    let cookie = cookie(client, settings, context).await?;
    let request = request::get_crumb(settings).with_header(header::COOKIE, cookie.clone());
    let answer = client.send(request, context).await?;
    Ok(Crumb { cookie, text: answer.text().trim().into() })
}

/// Whether a text can be one.
pub(super) fn is_crumb(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'<' | b'{');
    (1..=MAX_LENGTH).contains(&text.len()) && text.bytes().all(is_part)
}

async fn cookie(client: &Client, settings: &Settings, context: &ToolContext) -> Result<HeaderValue, Failure> {
    let answer = client.send(request::get_cookie(settings), context).await?;
    let cookies: Vec<_> = answer.cookies().map(|cookie| cookie.stripped().to_string()).collect();
    if cookies.is_empty() {
        return Err(Failure::malformed("the cookie host set no cookie"));
    }
    HeaderValue::from_str(&cookies.join("; "))
        .map_err(|_| Failure::malformed("a cookie that is not a valid header value"))
}
