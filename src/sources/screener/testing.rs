//! For the tests of this connector: stores in memory, and a site that behaves as Screener.in does.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use futures_util::future::{BoxFuture, ready};
use tokio::sync::Notify;
use wiremock::{
    Mock, MockServer, Request, Respond, ResponseTemplate,
    matchers::{header, method, path, query_param},
};

use super::{Credentials, Login, PROFILE, Screener, Settings, Stores};
use crate::{
    context::{ToolContext, User, UserId},
    sources::http::{Profile, testing},
    store::{
        StoreError,
        cool_downs::{CoolDown, CoolDowns},
        screens::{Claim, ScreenCopy, ScreenedStock, Screens},
    },
};

pub(super) const DAY: Duration = Duration::from_hours(24);

/// Copies and claims in memory.
#[derive(Debug, Default)]
pub(super) struct MemoryScreens {
    state: Mutex<State>,
    /// Told of each copy that is kept.
    pub(super) kept: Notify,
}

#[derive(Debug, Default)]
struct State {
    copies: BTreeMap<(UserId, String), ScreenCopy>,
    claims: BTreeMap<UserId, SystemTime>,
    watched: BTreeMap<UserId, BTreeSet<String>>,
    fails: bool,
}

impl MemoryScreens {
    pub(super) fn put(&self, user: &str, screen_id: &str, copy: ScreenCopy) {
        let key = (user.parse().unwrap(), screen_id.to_owned());
        self.state.lock().unwrap().copies.insert(key, copy);
    }

    pub(super) fn ids(&self, user: &str) -> Vec<String> {
        let state = self.state.lock().unwrap();
        state.copies.keys().filter(|(of, _)| of.as_str() == user).map(|(_, id)| id.clone()).collect()
    }

    pub(super) fn watched(&self, user: &str) -> Vec<String> {
        let state = self.state.lock().unwrap();
        state.watched.get(&user.parse().unwrap()).into_iter().flatten().cloned().collect()
    }

    pub(super) fn spend(&self, user: &str, at: SystemTime) {
        self.state.lock().unwrap().claims.insert(user.parse().unwrap(), at);
    }

    pub(super) fn is_spent(&self, user: &str) -> bool {
        self.state.lock().unwrap().claims.contains_key(&user.parse().unwrap())
    }

    pub(super) fn fail(&self) {
        self.state.lock().unwrap().fails = true;
    }

    fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut State) -> T,
    ) -> BoxFuture<'_, Result<T, StoreError>> {
        let mut state = self.state.lock().unwrap();
        let done = if state.fails { Err(StoreError("disk".to_owned())) } else { Ok(work(&mut state)) };
        drop(state);
        Box::pin(async { done })
    }
}

impl State {
    fn allowed_at(&self, user: &UserId, now: SystemTime) -> Option<SystemTime> {
        let allowed_at = *self.claims.get(user)? + DAY;
        (allowed_at > now).then_some(allowed_at)
    }
}

impl Screens for MemoryScreens {
    fn copy<'a>(
        &'a self,
        user: &'a UserId,
        screen_id: &'a str,
    ) -> BoxFuture<'a, Result<Option<ScreenCopy>, StoreError>> {
        self.with(|state| state.copies.get(&(user.clone(), screen_id.to_owned())).cloned())
    }

    fn keep<'a>(
        &'a self,
        user: &'a UserId,
        screen_id: &'a str,
        copy: &'a ScreenCopy,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let done = self.with(|state| {
            state.copies.insert((user.clone(), screen_id.to_owned()), copy.clone());
            let symbols = copy.stocks.iter().map(|stock| stock.symbol.clone());
            state.watched.entry(user.clone()).or_default().extend(symbols);
        });
        self.kept.notify_one();
        done
    }

    fn claim_scrape<'a>(
        &'a self,
        user: &'a UserId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Claim, StoreError>> {
        self.with(|state| match state.allowed_at(user, now) {
            Some(allowed_at) => Claim::Denied { allowed_at },
            None => {
                state.claims.insert(user.clone(), now);
                Claim::Granted
            }
        })
    }

    fn scrape_allowed_at<'a>(
        &'a self,
        user: &'a UserId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<SystemTime>, StoreError>> {
        self.with(|state| state.allowed_at(user, now))
    }
}

/// At most one cool-down, for everybody.
#[derive(Debug, Default)]
pub(super) struct OneCoolDown(pub(super) Mutex<Option<CoolDown>>);

impl CoolDowns for OneCoolDown {
    fn in_force<'a>(
        &'a self,
        _source: &'a str,
        _user: &'a UserId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<CoolDown>, StoreError>> {
        let in_force = self.0.lock().unwrap().clone().filter(|cool_down| cool_down.until > now);
        Box::pin(ready(Ok(in_force)))
    }

    fn begin<'a>(
        &'a self,
        _source: &'a str,
        _user: Option<&'a UserId>,
        _cool_down: &'a CoolDown,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(ready(Ok(())))
    }

    fn of_sources(&self, _now: SystemTime) -> BoxFuture<'_, Result<Vec<(String, CoolDown)>, StoreError>> {
        Box::pin(ready(Ok(Vec::new())))
    }
}

/// A connector to a site of our own, and what stands around it.
pub(super) struct House {
    pub(super) site: MockServer,
    pub(super) screens: Arc<MemoryScreens>,
    pub(super) cool_downs: Arc<OneCoolDown>,
    pub(super) credentials: Arc<Credentials>,
    pub(super) screener: Screener,
}

impl House {
    /// A site with nothing on it.
    pub(super) async fn empty() -> Self {
        Self::with(|_| {}, PROFILE).await
    }

    /// A site that signs everybody in and has the given screens.
    pub(super) async fn serving(screens: &[(&str, &[&[&str]])]) -> Self {
        let house = Self::empty().await;
        house.sign_in().await;
        for (path, pages) in screens {
            house.screen(path, pages).await;
        }
        house
    }

    pub(super) async fn with(change: impl FnOnce(&mut Settings), profile: Profile) -> Self {
        let site = MockServer::start().await;
        let mut settings =
            Settings::embedded(format!("{}/screener/", site.uri()).parse().unwrap(), super::Now::Wall);
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

/// A page of a screen as the site writes it.
pub(super) fn screen_page(
    symbols: &[&str],
    first_id: usize,
    total: usize,
    number: usize,
    pages: usize,
) -> String {
    const HEADER: &str = r#"<tr><th>S.No.</th><th>Name</th><th data-tooltip="Current Price">CMP</th>
        <th data-tooltip="Price to Earning">P/E</th><th data-tooltip="Market Capitalization">Mar Cap</th>
        <th data-tooltip="Return on equity">ROE</th></tr>"#;
    let rows: String = symbols
        .iter()
        .enumerate()
        .map(|(index, symbol)| {
            format!(
                r#"<tr data-row-company-id="{}"><td>{index}</td><td><a href="/company/{symbol}/">{symbol}
                Limited</a></td><td>1,234.50</td><td>-</td><td>19,15,682</td><td>9.1</td></tr>"#,
                first_id + index
            )
        })
        .collect();
    format!(
        r#"<!doctype html><a href="/user/account/">me</a><div data-page-info>{total} results found: Showing page
        {number} of {pages}</div><table class="data-table">{HEADER}{rows}</table>"#
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
        symbol: "OLD".to_owned(),
        name: "Old".to_owned(),
        cmp: 1.0,
        pe: None,
        market_cap_cr: 2.0,
        roe: None,
    };
    ScreenCopy { name: "Old".to_owned(), stocks: vec![stock], scraped_at: crate::clock::wall() - age }
}
