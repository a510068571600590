//! One login session, as a browser would have it: its own cookies and its own User-Agent, thrown away afterwards.

use std::collections::BTreeMap;

use http::{HeaderName, HeaderValue, StatusCode, header};
use secrecy::ExposeSecret;
use url::Url;

use super::{
    Login,
    page::{self, Page},
    profile::SIGN_IN,
};
use toolwire_sources::upstream::http::{Answer, Client, ExpectedBody, Failure, Outgoing};
use toolwire_tool::context::ToolContext;

/// Rows per page: what the site shows by default.
const ROWS: &str = "50";
/// Maximum number of cookies, more than any browser would get; further ones are dropped.
const MAX_COOKIES: usize = 32;

/// The browsers that a session may claim to be: one is drawn for each.
const USER_AGENTS: [&str; 4] = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
];

pub(super) struct Session<'a> {
    client: &'a Client,
    base: &'a Url,
    context: &'a ToolContext,
    user_agent: &'static str,
    cookies: BTreeMap<String, String>,
}

impl<'a> Session<'a> {
    /// A new session, not signed in.
    pub(super) fn new(client: &'a Client, base: &'a Url, context: &'a ToolContext) -> Self {
        let user_agent = fastrand::choice(USER_AGENTS).unwrap_or(USER_AGENTS[0]);
        Self { client, base, context, user_agent, cookies: BTreeMap::new() }
    }

    /// Fetches the login form.
    pub(super) async fn open_form(&mut self) -> Result<LoginForm, Failure> {
        let url = below(self.base, "login");
        let answer = self.send(Outgoing::get(url.clone(), ExpectedBody::Html)).await?;
        let form = move |answer: &Answer| {
            let token = page::csrf_token(&answer.text());
            let form = token.map(|token| LoginForm { url, token });
            form.ok_or_else(|| Failure::malformed("a login page without its form"))
        };
        self.client.read(answer, self.context, form).await
    }

    /// Signs in: 302 with a session's cookie, or else the credentials are bad, which the source's profile knows.
    pub(super) async fn sign_in(&mut self, form: LoginForm, login: &Login) -> Result<(), Failure> {
        let fields = [
            ("csrfmiddlewaretoken", form.token.as_str()),
            ("next", ""),
            ("username", login.username.expose_secret()),
            ("password", login.password.expose_secret()),
        ];
        let referer = value(form.url.as_str())?;
        let mut url = form.url;
        url.set_fragment(Some(SIGN_IN));
        let post = Outgoing::post_form(url, &fields, ExpectedBody::Html)
            .with_header(header::REFERER, referer)
            .accepting(StatusCode::FOUND);
        let answer = self.send(post).await?;
        if answer.status == StatusCode::FOUND && self.cookies.contains_key("sessionid") {
            return Ok(());
        }
        Err(Failure::malformed(format!("HTTP {} after signing in, without a session", answer.status)))
    }

    /// One page of a screen, from 1.
    pub(super) async fn page(&mut self, path: &str, number: usize) -> Result<Page, Failure> {
        let mut url = below(self.base, path);
        url.query_pairs_mut().append_pair("page", &number.to_string()).append_pair("limit", ROWS);
        let answer = self.send(Outgoing::get(url, ExpectedBody::Html)).await?;
        let page = self.client.read(answer, self.context, |answer| page::read(&answer.text())).await?;
        // Beyond the last page, the site returns the last one again.
        let is_last_again = page.number < number && page.number == page.pages;
        if page.number != number && !is_last_again {
            return Err(Failure::malformed(format!("page {} where {number} was due", page.number)));
        }
        Ok(page)
    }

    async fn send(&mut self, outgoing: Outgoing) -> Result<Answer, Failure> {
        let mut outgoing = with(outgoing, header::USER_AGENT, self.user_agent)?;
        outgoing = with(outgoing, header::ACCEPT, "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8")?;
        outgoing = with(outgoing, header::ACCEPT_LANGUAGE, "en-IN,en;q=0.9")?;
        if !self.cookies.is_empty() {
            let pairs: Vec<_> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let mut cookies = value(&pairs.join("; "))?;
            cookies.set_sensitive(true);
            outgoing = outgoing.with_header(header::COOKIE, cookies);
        }
        let answer = self.client.send(outgoing, self.context).await?;
        self.keep_cookies(&answer);
        Ok(answer)
    }

    fn keep_cookies(&mut self, answer: &Answer) {
        for cookie in answer.cookies() {
            let (name, value) = cookie.name_value();
            if value.is_empty() {
                self.cookies.remove(name);
            } else if self.cookies.len() < MAX_COOKIES || self.cookies.contains_key(name) {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
    }
}

/// The login form that a session was shown.
pub(super) struct LoginForm {
    url: Url,
    token: String,
}

/// An address below the base, whatever the path holds.
fn below(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.path_segments_mut()
        .expect("a configured base address is one of HTTP")
        .pop_if_empty()
        .extend(path.split('/').filter(|segment| !segment.is_empty()))
        .push("");
    url
}

fn with(outgoing: Outgoing, name: HeaderName, text: &str) -> Result<Outgoing, Failure> {
    Ok(outgoing.with_header(name, value(text)?))
}

fn value(text: &str) -> Result<HeaderValue, Failure> {
    HeaderValue::from_str(text)
        .map_err(|_| Failure::malformed("a cookie or an address that no header can hold"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_never_leaves_its_base() {
        let base: Url = "http://127.0.0.1:1/screener/".parse().unwrap();
        let found = |path| below(&base, path).to_string();
        assert_eq!(found("screens/101/default/"), "http://127.0.0.1:1/screener/screens/101/default/");
        assert_eq!(found("/screens/101/default"), "http://127.0.0.1:1/screener/screens/101/default/");
        assert_eq!(found("../../etc"), "http://127.0.0.1:1/screener/etc/");
        assert_eq!(found("//evil.example/x?y"), "http://127.0.0.1:1/screener/evil.example/x%3Fy/");
    }
}
