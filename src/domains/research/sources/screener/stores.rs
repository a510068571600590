//! What outlives the process of what is scraped.

use std::sync::Arc;

use crate::store::screens::Screens;
use toolwire_state::cool_downs::CoolDowns;

#[derive(Clone, Debug)]
pub struct Stores {
    /// Copies of screens, and the one scrape a day.
    pub screens: Arc<dyn Screens>,
    /// Looked at before the day's scrape is spent on a source that would refuse it.
    pub cool_downs: Arc<dyn CoolDowns>,
}
