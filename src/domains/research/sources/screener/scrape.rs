//! One scrape: one login session that fetches the screen asked for, then the user's others while time lasts.
//!
//! Each is kept as it completes, so that a scrape that ends early leaves what it has.

use std::{
    collections::BTreeMap,
    ops::RangeInclusive,
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime},
};

use tokio::time::{sleep, timeout, timeout_at};

use super::{
    Freshness, Login, PROFILE, Screen, ScreenResult, Settings, Stores, page::Page, progress::Progress,
    results::Results, scrape_failure::ScrapeFailure, scrape_wait, session::Session,
};
use crate::store::screens::{Claim, ScreenCopy};
use toolwire_db::StoreError;
use toolwire_sources::upstream::{
    http::{Client, Failure, FailureKind},
    text::Line,
};
use toolwire_tool::context::ToolContext;

/// Maximum number of pages of a screen: a longer one would take more time than a call has.
const MAX_PAGES: usize = 8;

/// Maximum time that a call waits for the record of the end of its scrape.
const STORE_TIMEOUT: Duration = Duration::from_secs(1);

pub(super) struct Scrape {
    pub(super) client: Client,
    pub(super) stores: Stores,
    pub(super) login: Option<Login>,
    pub(super) settings: Arc<Settings>,
    pub(super) wanted: Vec<Screen>,
    pub(super) context: ToolContext,
    pub(super) progress: Progress,
    /// When the day's scrape was claimed for this one.
    pub(super) claimed_at: OnceLock<SystemTime>,
}

/// The outcome of a scrape, by screen.
#[derive(Debug)]
pub(super) struct ScrapeOutcome {
    screens: BTreeMap<String, Result<ScreenCopy, ScrapeFailure>>,
    warnings: Vec<String>,
}

impl Scrape {
    pub(super) async fn run(&self) -> ScrapeOutcome {
        let mut scraped = ScrapeOutcome { screens: BTreeMap::new(), warnings: Vec::new() };
        let deadline = self.context.deadline.at();
        let stopped = match timeout_at(deadline, self.fetch(&mut scraped)).await {
            Ok(Ok(())) => return scraped,
            Ok(Err(why)) => why,
            Err(_) => ScrapeFailure::out_of_time(),
        };
        for screen in &self.wanted {
            scraped.screens.entry(screen.screen_id.clone()).or_insert_with(|| Err(stopped.clone()));
        }
        scraped
    }

    /// Records that the scrape has ended, whatever its outcome. Without the record, other processes wait for it until
    /// its deadline.
    pub(super) async fn end(&self) {
        let Some(claimed_at) = self.claimed_at.get() else { return };
        let ended = self.stores.screens.end_scrape(&self.context.user.id, *claimed_at);
        let ended = timeout(STORE_TIMEOUT, ended).await.unwrap_or(Err(StoreError::Late));
        if let Err(error) = ended {
            tracing::warn!(source = PROFILE.name, %error, "the end of a scrape cannot be kept");
        }
    }

    /// The time by the clock of the store of screens.
    fn now(&self) -> SystemTime {
        self.stores.screens.now()
    }

    async fn fetch(&self, scraped: &mut ScrapeOutcome) -> Result<(), ScrapeFailure> {
        let login = self.login.as_ref().ok_or(ScrapeFailure::NoCredentials)?;
        let claimed_at = self.claim(login).await?;
        let mut session = Session::new(&self.client, &self.settings.base, &self.context);
        if let Err(failure) = self.sign_in(&mut session, login).await {
            self.release_claim(&failure, login, claimed_at).await;
            return Err(self.log(failure));
        }
        for screen in &self.wanted {
            let fetched = self.screen(&mut session, screen).await;
            // A session that the site takes for signed out on its first page has read nothing either.
            if let Err(failure @ Failure { kind: FailureKind::AuthFailed, .. }) = &fetched
                && scraped.screens.is_empty()
            {
                self.release_claim(failure, login, claimed_at).await;
            }
            let fetched = fetched.map_err(|failure| self.log(failure));
            let fetched = fetched.map(|(copy, warning)| {
                scraped.warnings.extend(warning);
                copy
            });
            let goes_on = fetched.as_ref().err().is_none_or(concerns_one_screen);
            if let Ok(copy) = &fetched {
                self.keep(screen, copy, scraped).await;
            }
            let stopped = fetched.as_ref().err().filter(|_| !goes_on).cloned();
            scraped.screens.insert(screen.screen_id.clone(), fetched);
            if let Some(why) = stopped {
                return Err(why);
            }
        }
        Ok(())
    }

    async fn sign_in(&self, session: &mut Session<'_>, login: &Login) -> Result<(), Failure> {
        self.progress.set(format!("Signing in to {}…", PROFILE.title));
        let form = session.open_form().await?;
        self.pause().await;
        session.sign_in(form, login).await
    }

    /// Releases the claim of a scrape that read nothing, so that it does not spend the day. Refused credentials are
    /// recorded, and not tried again for a while.
    async fn release_claim(&self, failure: &Failure, login: &Login, claimed_at: SystemTime) {
        if !spends_nothing(failure.kind) {
            return;
        }
        let (user, screens) = (&self.context.user.id, &self.stores.screens);
        let refused = match failure.kind {
            FailureKind::AuthFailed => {
                screens.refuse_login(user, &login.mark(user), self.client.auth_failed_for()).await
            }
            _ => Ok(()),
        };
        let released = screens.release_scrape(user, claimed_at).await;
        if let Err(error) = refused.and(released) {
            tracing::warn!(source = PROFILE.name, %error, "a failed login cannot be kept");
        }
    }

    /// Claims the user's scrape of the day, unless it could bring nothing now, and returns the time of the claim. Waits
    /// while another process scrapes.
    async fn claim(&self, login: &Login) -> Result<SystemTime, ScrapeFailure> {
        let (user, screens) = (&self.context.user.id, &self.stores.screens);
        loop {
            let ended = scrape_wait::wait_end(screens, user, &self.progress).await;
            ended.map_err(|error| ScrapeFailure::of_store(&error))?;
            // Before the claim, which would be spent for nothing; and after the wait, which takes time.
            self.check_feasible(login).await?;
            let claim = screens.claim_scrape(user, self.context.remaining()).await;
            match claim.map_err(|error| ScrapeFailure::of_store(&error))? {
                Claim::Granted(at) => return Ok(*self.claimed_at.get_or_init(|| at)),
                Claim::Denied { allowed_at, is_under_way: false } => {
                    return Err(ScrapeFailure::NotYet { allowed_at });
                }
                Claim::Denied { is_under_way: true, .. } => {}
            }
        }
    }

    /// Fails if a scrape could bring nothing now: for want of time, in a cool-down, or with refused credentials.
    async fn check_feasible(&self, login: &Login) -> Result<(), ScrapeFailure> {
        let least_time = self.settings.least_time;
        if self.context.remaining() < least_time {
            return Err(ScrapeFailure::too_short(least_time));
        }
        let (user, now) = (&self.context.user.id, self.now());
        let in_force = self.stores.cool_downs.in_force(PROFILE.name, user, now).await;
        if let Some(cool_down) = in_force.map_err(|error| ScrapeFailure::of_store(&error))? {
            return Err(ScrapeFailure::resting(cool_down));
        }
        let refused = self.stores.screens.login_refused_until(user, &login.mark(user), now).await;
        match refused.map_err(|error| ScrapeFailure::of_store(&error))? {
            Some(until) => Err(ScrapeFailure::refused(until)),
            None => Ok(()),
        }
    }

    /// Fetches a screen, with a warning if there is one. It ends with its last page, or where pages repeat.
    async fn screen(
        &self,
        session: &mut Session<'_>,
        screen: &Screen,
    ) -> Result<(ScreenCopy, Option<String>), Failure> {
        let Page { name, mut total, pages, rows, .. } = self.page(session, screen, 1).await?;
        if pages > MAX_PAGES {
            return Err(too_long(screen, pages));
        }
        let mut results = Results::default();
        let mut has_ended = !results.add(rows);
        for number in 2..=pages {
            if has_ended {
                break;
            }
            let page = self.page(session, screen, number).await?;
            has_ended = !results.add(page.rows);
            if !has_ended && (page.total, page.pages) != (total, pages) {
                return Err(Failure::malformed("a screen that changed while it was read"));
            }
            total = page.total;
        }
        let (stocks, warning) = results.complete(total, has_ended, &screen.screen_id)?;
        let name =
            screen.name.as_deref().map(Line::of).or(name).unwrap_or_else(|| Line::of(&screen.screen_id));
        Ok((ScreenCopy { name, stocks, scraped_at: self.now() }, warning))
    }

    async fn page(&self, session: &mut Session<'_>, screen: &Screen, number: usize) -> Result<Page, Failure> {
        self.pause().await;
        self.progress.set(format!("Reading page {number} of the screen {}…", screen.screen_id));
        session.page(&screen.path, number).await
    }

    /// Stores a copy. Where that fails, this call returns the screen all the same, and the next one will not find it.
    async fn keep(&self, screen: &Screen, copy: &ScreenCopy, scraped: &mut ScrapeOutcome) {
        let user = &self.context.user.id;
        if let Err(error) = self.stores.screens.keep(user, &screen.screen_id, copy).await {
            tracing::error!(source = PROFILE.name, %error, "a screen was scraped and cannot be kept");
            scraped.warnings.push(format!("The screen {} could not be kept.", screen.screen_id));
        }
    }

    async fn pause(&self) {
        let pause = at_random(&self.settings.pause);
        if pause > Duration::ZERO {
            sleep(pause).await;
        }
    }

    fn log(&self, failure: Failure) -> ScrapeFailure {
        self.client.complete_failure(failure, &self.context).into()
    }
}

fn at_random(bounds: &RangeInclusive<Duration>) -> Duration {
    *bounds.start() + bounds.end().saturating_sub(*bounds.start()).mul_f64(fastrand::f64())
}

fn too_long(screen: &Screen, pages: usize) -> Failure {
    let message = format!(
        "The screen {} has {pages} pages; at most {MAX_PAGES} are read. Narrow it on Screener.in.",
        screen.screen_id
    );
    Failure::malformed(format!("a screen of {pages} pages")).with_message(message)
}

/// Whether a login with such a failure does not count as a scrape. What looks like a block counts: another request
/// would do harm.
fn spends_nothing(kind: FailureKind) -> bool {
    use FailureKind::{AuthFailed, Down, OverBudget, RateLimited, TimedOut, Uncounted, Unreachable};
    matches!(kind, AuthFailed | Down | OverBudget | RateLimited | TimedOut | Uncounted | Unreachable)
}

/// Whether a failure says nothing of the other screens: a page that is gone or cannot be read.
fn concerns_one_screen(why: &ScrapeFailure) -> bool {
    matches!(why, ScrapeFailure::Failed(Failure { kind: FailureKind::Malformed | FailureKind::NotFound, .. }))
}

impl ScrapeOutcome {
    /// The outcome for one screen, with a warning for each other one that failed.
    pub(super) fn screen(&self, screen_id: &str) -> Result<ScreenResult, ScrapeFailure> {
        let copy =
            self.screens.get(screen_id).cloned().unwrap_or_else(|| Err(ScrapeFailure::out_of_time()))?;
        let failed = self.screens.iter().filter_map(|(id, outcome)| Some((id, outcome.as_ref().err()?)));
        let others =
            failed.map(|(id, why)| format!("The screen {id} was not refreshed with it. {}", why.brief()));
        let warnings = self.warnings.iter().cloned().chain(others).collect();
        Ok(ScreenResult { copy, freshness: Freshness::Scraped, warnings })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use toolwire_sources::upstream::now::Now;

    fn base() -> url::Url {
        "http://127.0.0.1:1/".parse().unwrap()
    }

    #[test]
    fn live_pages_are_two_to_five_seconds_apart_and_never_quite_alike() {
        let live = Settings::live(base(), Vec::new());
        let pauses: HashSet<_> = (0..50).map(|_| at_random(&live.pause)).collect();
        let bounds = Duration::from_secs(2)..=Duration::from_secs(5);
        assert!(pauses.len() > 10 && pauses.iter().all(|pause| bounds.contains(pause)), "{pauses:?}");
    }

    #[test]
    fn the_embedded_origin_is_not_waited_for() {
        assert_eq!(at_random(&Settings::embedded(base(), Now::Wall).pause), Duration::ZERO);
    }
}
