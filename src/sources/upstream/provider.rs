//! A provider as a source: how much may be asked of it, and how long it is left alone.

use std::time::Duration;

use super::{
    limiter::{Budget, Budgets},
    settings::CoolDown,
};
use toolwire_config::{ProviderLimits, RequestLimit};

/// A provider stands for all of its tools: it is tried again soon after one of them was refused.
pub(super) const COOL_DOWN: CoolDown =
    CoolDown { blocked: Duration::from_mins(1), auth_failed: Duration::from_mins(1) };

/// A provider that calls may go to.
#[derive(Clone, Debug)]
pub struct ProviderSpec {
    pub name: String,
    pub limits: ProviderLimits,
}

impl ProviderSpec {
    /// `None` without limits.
    pub(super) fn budgets(&self) -> Option<Budgets> {
        let ProviderLimits { per_user, all } = self.limits;
        let all = all.map(budget);
        // One user may take as much as all together.
        let per_user = per_user.map(budget).or(all)?;
        Some(Budgets { per_user, ceiling: all.unwrap_or(Budget::UNLIMITED) })
    }
}

fn budget(RequestLimit { max_requests, window, min_delay }: RequestLimit) -> Budget {
    Budget { max_requests, window, min_delay }
}
