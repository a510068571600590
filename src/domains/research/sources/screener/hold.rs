//! Reasons to make no request to Screener.in for a user though its limits would allow one: the day's scrape is spent,
//! or the user's credentials were refused.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{Credentials, Login, PROFILE, Stores};
use toolwire_db::StoreError;
use toolwire_sources::upstream::source_status::{Hold, Pause};
use toolwire_tool::context::UserId;

/// Reads the state of one user's scrape and credentials. Those of a session are not known here.
#[derive(Debug)]
pub struct ScrapeHold {
    stores: Stores,
    credentials: Arc<Credentials>,
    demo: Option<Login>,
}

impl ScrapeHold {
    pub(super) fn new(stores: Stores, credentials: Arc<Credentials>, demo: Option<Login>) -> Self {
        Self { stores, credentials, demo }
    }

    async fn pause(&self, user: &UserId) -> Result<Option<Pause>, StoreError> {
        let (screens, now) = (&self.stores.screens, self.stores.screens.now());
        if let Some(login) = self.credentials.of(user, None).or_else(|| self.demo.clone())
            && let Some(until) = screens.login_refused_until(user, &login.mark(user), now).await?
        {
            let reason =
                "Screener.in refused the credentials that were given; with other ones it is asked at once.";
            return Ok(Some(Pause { until, reason: reason.to_owned() }));
        }
        let until = screens.scrape_allowed_at(user, now).await?;
        let reason = "The scrape of the day is spent; what it brought is returned meanwhile.";
        Ok(until.map(|until| Pause { until, reason: reason.to_owned() }))
    }
}

impl Hold for ScrapeHold {
    fn source(&self) -> &str {
        PROFILE.name
    }

    fn of<'a>(&'a self, user: &'a UserId) -> BoxFuture<'a, Option<Pause>> {
        Box::pin(async move {
            self.pause(user).await.unwrap_or_else(|error| {
                tracing::warn!(source = PROFILE.name, %error, "scrapes cannot be read");
                None
            })
        })
    }
}
