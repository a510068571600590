//! For the tests of this connector: a site that behaves as Screener.in does, and stores in memory.

mod stores;

use std::{sync::Arc, time::Duration};

use url::Url;
use wiremock::{
    Mock, MockServer, Request, Respond, ResponseTemplate,
    matchers::{header, method, path, query_param},
};

pub(super) use self::stores::{DAY, MemoryScreens, OneCoolDown};
use super::{Credentials, Login, PROFILE, Screener, Settings, Stores};
use crate::store::screens::{ScreenCopy, ScreenedStock};
use toolwire_sources::upstream::{
    http::{Client, Profile},
    now::Now,
    testing,
    text::{Identifier, Line},
};
use toolwire_tool::context::{ToolContext, User};

/// A connector to a mock site, with the stores and credentials it uses.
pub(super) struct Fixture {
    pub(super) site: MockServer,
    pub(super) screens: Arc<MemoryScreens>,
    pub(super) cool_downs: Arc<OneCoolDown>,
    pub(super) credentials: Arc<Credentials>,
    pub(super) screener: Screener,
}

impl Fixture {
    /// A site with nothing on it.
    pub(super) async fn empty() -> Self {
        Self::with(|_| {}, PROFILE).await
    }

    /// A site that signs in every visitor and has the given screens.
    pub(super) async fn serving(screens: &[(&str, &[&[&str]])]) -> Self {
        let fixture = Self::empty().await;
        fixture.sign_in().await;
        for (path, pages) in screens {
            fixture.screen(path, pages).await;
        }
        fixture
    }

    pub(super) async fn with(change: impl FnOnce(&mut Settings), profile: Profile) -> Self {
        let site = MockServer::start().await;
        let mut settings =
            Settings::embedded(format!("{}/screener/", site.uri()).parse().unwrap(), Now::Wall);
        settings.demo = Some(Login::new("riley@example.com", "s3cret-word"));
        change(&mut settings);
        let (screens, cool_downs) = (Arc::<MemoryScreens>::default(), Arc::<OneCoolDown>::default());
        let stores = Stores { screens: Arc::clone(&screens) as _, cool_downs: Arc::clone(&cool_downs) as _ };
        let credentials = Arc::<Credentials>::default();
        let client = testing::client(profile);
        let screener = Screener::new(client, stores, Arc::clone(&credentials), settings);
        Self { site, screens, cool_downs, credentials, screener }
    }

    /// The two steps of a login that goes well.
    pub(super) async fn sign_in(&self) {
        self.login_form().await;
        let signed_in = ResponseTemplate::new(302)
            .append_header("location", "/dash/")
            .append_header("set-cookie", "csrftoken=second; Path=/")
            .append_header("set-cookie", "sessionid=s1; HttpOnly; Path=/");
        self.post_login(signed_in).await;
    }

    pub(super) async fn login_form(&self) {
        let form =
            "<!doctype html><form method=post><input type=hidden name=csrfmiddlewaretoken value=t0></form>";
        let page = html(form).append_header("set-cookie", "csrftoken=first; Path=/");
        self.get("login/", page).await;
    }

    /// What is answered to a form that was sent as a browser sends it.
    pub(super) async fn post_login(&self, answer: ResponseTemplate) {
        let referer = format!("{}/screener/login/", self.site.uri());
        let given = Mock::given(method("POST")).and(path("/screener/login/"));
        let given = given.and(header("cookie", "csrftoken=first")).and(header("referer", referer.as_str()));
        given.respond_with(answer).mount(&self.site).await;
    }

    /// A screen: for each of its pages the symbols on it.
    pub(super) async fn screen(&self, at: &str, pages: &[&[&str]]) {
        let total = pages.iter().map(|page| page.len()).sum();
        for (index, symbols) in pages.iter().enumerate() {
            let text = screen_page(symbols, index * 100, total, index + 1, pages.len());
            let given = Mock::given(method("GET")).and(path(format!("/screener/{at}")));
            let given = given.and(query_param("page", (index + 1).to_string()));
            let given = given.and(header("cookie", "csrftoken=second; sessionid=s1"));
            given.respond_with(html(&text)).mount(&self.site).await;
        }
    }

    pub(super) async fn get(&self, at: &str, answer: impl Respond + 'static) {
        let given = Mock::given(method("GET")).and(path(format!("/screener/{at}")));
        given.respond_with(answer).mount(&self.site).await;
    }

    pub(super) async fn requests(&self) -> Vec<Request> {
        self.site.received_requests().await.unwrap()
    }
}

/// The connector at an address, with one screen and everything in memory.
pub(in crate::sources) fn connector(client: Client, base: Url) -> Screener {
    let mut settings = Settings::embedded(base, Now::Wall);
    settings.demo = Some(Login::new("riley@example.com", "s3cret-word"));
    settings.screens.truncate(1);
    let (screens, cool_downs) = (Arc::<MemoryScreens>::default(), Arc::<OneCoolDown>::default());
    let stores = Stores { screens: screens as _, cool_downs: cool_downs as _ };
    Screener::new(client, stores, Arc::default(), settings)
}

/// A page of a screen as the site writes it.
pub(in crate::sources) fn screen_page(
    symbols: &[&str],
    first_id: usize,
    total: usize,
    number: usize,
    pages: usize,
) -> String {
    const HEADER: &str = r#"<tr><th>S.No.</th><th>Name</th><th data-tooltip="Current Price">CMP</th>
        <th data-tooltip="Price to Earning">P/E</th><th data-tooltip="Market Capitalization">Mar Cap</th>
        <th data-tooltip="Return on equity">ROE</th></tr>"#;
    let row = |(index, symbol): (usize, &&str)| {
        format!(
            r#"<tr data-row-company-id="{}"><td>{index}</td><td><a href="/company/{symbol}/">{symbol}
            Limited</a></td><td>1,234.50</td><td>-</td><td>19,15,682</td><td>9.1</td></tr>"#,
            first_id + index
        )
    };
    let rows: Vec<_> = symbols.iter().enumerate().map(row).collect();
    format!(
        r#"<!doctype html><a href="/user/account/">me</a><h1>Screen of {total}</h1>
        <div data-page-info>{total} results found: Showing page {number} of {pages}</div>
        <table class="data-table">{HEADER}{}</table>"#,
        rows.concat()
    )
}

pub(super) fn html(text: &str) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_raw(text.to_owned(), "text/html; charset=utf-8")
}

/// A call of a user with a minute's time.
pub(super) fn call_of(user: &str) -> ToolContext {
    ToolContext { user: User::new(user.parse().unwrap()), ..testing::context() }
}

/// A copy of one stock, so old.
pub(super) fn copy(age: Duration) -> ScreenCopy {
    let stock = ScreenedStock {
        symbol: Identifier::of("OLD"),
        name: Line::of("Old"),
        cmp: 1.0,
        pe: None,
        market_cap_cr: 2.0,
        roe: None,
    };
    ScreenCopy { name: Line::of("Old"), stocks: vec![stock], scraped_at: toolwire_base::clock::wall() - age }
}
