//! The crumb: a cookie and a short text that belongs to it.
//!
//! Not here: keeping it (`kept`).

use ::http::{HeaderValue, StatusCode, header};
use secrecy::{ExposeSecret, SecretString};

use super::{request, settings::Settings};
use crate::{
    context::ToolContext,
    upstream::http::{Client, ExpectedBody, Failure, Outgoing},
};

/// More than the 11 characters that a crumb has, and less than a page.
const MAX_LENGTH: usize = 64;

/// A crumb and its cookie.
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
    let request = request::get(settings, &["v1", "test", "getcrumb"], &[], ExpectedBody::Text);
    let request = request.with_header(header::COOKIE, cookie.clone());
    let answer = client.send(request, context).await?;
    let text = answer.text().trim().to_owned();
    let is_crumb = (1..=MAX_LENGTH).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'<' | b'{'));
    if !is_crumb {
        return Err(Failure::malformed(format!("{} bytes that are not a valid crumb", text.len())));
    }
    Ok(Crumb { cookie, text: text.into() })
}

async fn cookie(client: &Client, settings: &Settings, context: &ToolContext) -> Result<HeaderValue, Failure> {
    let answer = client.send(with_any_status(request::get_cookie(settings)), context).await?;
    let cookies: Vec<_> = answer.cookies().map(|cookie| cookie.stripped().to_string()).collect();
    if cookies.is_empty() {
        return Err(Failure::malformed("the cookie host set no cookie"));
    }
    HeaderValue::from_str(&cookies.join("; "))
        .map_err(|_| Failure::malformed("a cookie that is not a valid header value"))
}

/// The host has no page to give, only a cookie: its status says nothing, unless that we are too many.
fn with_any_status(request: Outgoing) -> Outgoing {
    let statuses = (300..600).filter_map(|code| StatusCode::from_u16(code).ok());
    statuses.filter(|status| *status != StatusCode::TOO_MANY_REQUESTS).fold(request, Outgoing::accepting)
}
