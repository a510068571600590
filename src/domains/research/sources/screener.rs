//! Screener.in: the stocks of a user's screens, from a copy wherever that is possible.
//!
//! Its bot detection is aggressive, so requests are rare. A copy younger than a day is returned as it is, a user's
//! screens are scraped at most once a day, and nothing is retried. After a failure the last copy is returned. Not here:
//! limits and cool-downs, which every request meets in `toolwire_sources::upstream::http`.

mod catalogue;
mod credentials;
mod hold;
mod page;
mod profile;
mod progress;
mod results;
mod scrape;
mod scrape_failure;
mod scrape_wait;
mod screen_result;
mod selector;
mod session;
mod settings;
mod stores;
mod table;
mod time_limits;

use std::{
    sync::{Arc, OnceLock},
    time::SystemTime,
};

use tokio::{select, time::timeout_at};

use self::{
    progress::Progress,
    scrape::{Scrape, ScrapeOutcome},
    scrape_failure::ScrapeFailure,
    time_limits::TimeLimits,
};
use crate::store::screens::ScreenCopy;
use toolwire_contract::{ErrorCode, ToolError};
use toolwire_db::StoreError;
use toolwire_sources::upstream::http::Client;
use toolwire_telemetry::continuing_trace;
use toolwire_tool::{
    context::{ToolContext, UserId},
    single_flight::{Leader, SingleFlight, UnattendedPolicy, Waiter},
};

pub use catalogue::Screen;
pub use credentials::{Credentials, Login};
pub use hold::ScrapeHold;
pub use profile::PROFILE;
pub use screen_result::{Freshness, ScreenResult};
pub use settings::Settings;
pub use stores::Stores;

/// The screens of every user.
#[derive(Debug)]
pub struct Screener {
    client: Client,
    stores: Stores,
    credentials: Arc<Credentials>,
    settings: Arc<Settings>,
    /// At most one scrape a user at a time; calls that come meanwhile share it.
    scrapes: SingleFlight<UserId, Arc<ScrapeOutcome>, Progress>,
}

/// Whether a fresh copy is good enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refresh {
    IfStale,
    /// The screen should be scraped again, if that is allowed.
    Force,
}

impl Screener {
    /// The screens of every user. `client` is one of [`PROFILE`].
    pub fn new(client: Client, stores: Stores, credentials: Arc<Credentials>, settings: Settings) -> Self {
        Self { client, stores, credentials, settings: Arc::new(settings), scrapes: SingleFlight::default() }
    }

    /// The stocks of a screen of the calling user: from the copy while it is fresh.
    pub async fn browse(
        &self,
        screen_id: &str,
        refresh: Refresh,
        context: &ToolContext,
    ) -> Result<ScreenResult, ToolError> {
        let screen = catalogue::find(&self.settings.screens, &context.user.id, screen_id)?;
        if context.cancellation.is_cancelled() {
            return Err(ToolError::cancelled());
        }
        if refresh == Refresh::IfStale
            && let Some(kept) = self.copy(screen_id, context).await?.filter(ScreenResult::is_fresh)
        {
            return Ok(kept);
        }
        let began = self.stores.screens.now();
        match self.scrape_or_join(screen, context).await {
            Ok(browsed) => Ok(browsed),
            Err(why) => self.fall_back(screen_id, (refresh, began), &why, context).await,
        }
    }

    /// The reasons to make no request for a user.
    pub fn hold(&self) -> ScrapeHold {
        ScrapeHold::new(self.stores.clone(), Arc::clone(&self.credentials), self.settings.demo.clone())
    }

    /// The day of the data: that of embedded data never changes, whenever it was scraped.
    pub fn as_of(&self, copy: &ScreenCopy) -> SystemTime {
        self.settings.now.of_data_read(copy.scraped_at)
    }

    /// When the screens were recorded, if they are not those of the site.
    pub fn recorded_at(&self) -> Option<SystemTime> {
        self.settings.now.recorded_at()
    }

    /// The copy, however old.
    async fn copy(&self, screen_id: &str, context: &ToolContext) -> Result<Option<ScreenResult>, ToolError> {
        let screens = &self.stores.screens;
        let copy = screens.copy(&context.user.id, screen_id).await.map_err(|error| unreadable(&error))?;
        Ok(copy.map(|copy| ScreenResult::from_copy(copy, screens.now())))
    }

    /// Scrapes, or joins the user's scrape that is under way.
    async fn scrape_or_join(
        &self,
        screen: &Screen,
        context: &ToolContext,
    ) -> Result<ScreenResult, ScrapeFailure> {
        let limits = TimeLimits::of(context);
        let caller = &context.cancellation;
        let (leader, mut waiter) =
            self.scrapes.join_or_lead(context.user.id.clone(), UnattendedPolicy::Cancel, caller);
        if let Some(leader) = leader {
            start(self.scrape(screen, context, &waiter, limits), leader);
        }
        let progress = waiter.shared().clone();
        match timeout_at(limits.wait_ends, progress.while_waiting(waiter.outcome(), &context.events)).await {
            // A panic of the scrape is one of each call that shares it.
            Ok(scraped) => scraped.expect("a scrape ends with an outcome").screen(&screen.screen_id),
            Err(_) => Err(ScrapeFailure::out_of_time()),
        }
    }

    fn scrape(
        &self,
        screen: &Screen,
        context: &ToolContext,
        waiter: &Waiter<Arc<ScrapeOutcome>, Progress>,
        limits: TimeLimits,
    ) -> Scrape {
        Scrape {
            client: self.client.clone(),
            stores: self.stores.clone(),
            login: self
                .credentials
                .of(&context.user.id, context.session_id.as_ref())
                .or_else(|| self.settings.demo.clone()),
            settings: Arc::clone(&self.settings),
            wanted: catalogue::in_turn(&self.settings.screens, &context.user.id, screen),
            context: limits.of_scrape(context, waiter.cancellation().clone()),
            progress: waiter.shared().clone(),
            claimed_at: OnceLock::new(),
        }
    }

    /// On any error, the copy: trying again risks the account. It may have become fresh meanwhile, by another call's
    /// scrape, which is then as good as one of this call.
    async fn fall_back(
        &self,
        screen_id: &str,
        (refresh, began): (Refresh, SystemTime),
        why: &ScrapeFailure,
        context: &ToolContext,
    ) -> Result<ScreenResult, ToolError> {
        match self.copy(screen_id, context).await? {
            None => Err(why.error()),
            Some(kept) if refresh == Refresh::IfStale && kept.is_fresh() => Ok(kept),
            Some(kept) if kept.copy.scraped_at >= began => Ok(kept),
            Some(kept) => Ok(ScreenResult { warnings: vec![why.warning(&kept.copy)], ..kept }),
        }
    }
}

/// Scrapes in a task of its own, until the last waiter leaves.
fn start(scrape: Scrape, leader: Leader<UserId, Arc<ScrapeOutcome>, Progress>) {
    let cancellation = scrape.context.cancellation.clone();
    let task = async move {
        let scraped = select! {
            biased;
            () = cancellation.cancelled() => None,
            scraped = scrape.run() => Some(scraped),
        };
        // Before the callers get the outcome: a command line ends with its answer, and the record would be lost.
        scrape.end().await;
        if let Some(scraped) = scraped {
            leader.finish(Arc::new(scraped));
        }
    };
    tokio::spawn(continuing_trace(task));
}

/// Everything that is read of a page, in its `Debug` form. For tests and fuzzing, not for tools.
#[doc(hidden)]
pub fn read_page(html: &str) -> String {
    format!("{:?} {:?} {}", page::read(html), page::csrf_token(html), page::is_anonymous(html))
}

fn unreadable(error: &StoreError) -> ToolError {
    tracing::error!(source = PROFILE.name, %error, "copies of screens cannot be read");
    let message = "The copies of screens cannot be read now.";
    ToolError::new(ErrorCode::Unavailable, message)
}

#[cfg(test)]
pub(super) mod testing;
#[cfg(test)]
mod tests;
