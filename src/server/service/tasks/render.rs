//! A task as messages for a model, within the bounds of a request.

use std::sync::LazyLock;

use super::{Tasks, parse_id, why};
use crate::service::request::refuse;
use toolwire_base::fair_semaphore::FairSemaphore;
use toolwire_contract::{Refusal, TaskRefusal};
use toolwire_engine::tasks::render::{
    Rendering,
    read::{RenderError, RenderOptions, render_task},
};
use toolwire_tool::context::{User, UserId};

/// The token budget of a rendering: the default, and the bounds.
const DEFAULT_BUDGET: u32 = 60_000;
const MIN_BUDGET: u32 = 1_000;
const MAX_BUDGET: u32 = 500_000;

/// Maximum number of media types, and maximum length of each and of the provider's name in bytes.
const MAX_TYPES: usize = 32;
const MAX_NAME_LENGTH: usize = 127;

/// The parameters of a rendering.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenderWish {
    /// Maximum number of tokens. 0: the default.
    pub token_budget: u32,
    /// Types of media that the model takes.
    pub media_types: Vec<String>,
    /// The provider, whose opaque parts are wanted.
    pub provider: String,
}

/// Permits for concurrent renderings, in total and per user: each reads as much as its budget allows.
static RENDERS: LazyLock<FairSemaphore<UserId>> = LazyLock::new(|| FairSemaphore::new(16, 2));

impl Tasks {
    /// Renders a task's timeline for a model.
    pub async fn render(&self, user: &User, id: &str, wish: RenderWish) -> Result<Rendering, Refusal> {
        let id = parse_id(id)?;
        let RenderWish { token_budget, media_types, provider } = wish;
        let budget = match token_budget {
            0 => DEFAULT_BUDGET,
            MIN_BUDGET..=MAX_BUDGET => token_budget,
            _ => {
                let what = format!("must be from {MIN_BUDGET} to {MAX_BUDGET}, or 0 for {DEFAULT_BUDGET}");
                return Err(refuse("token_budget", "range", &what));
            }
        };
        if media_types.len() > MAX_TYPES || media_types.iter().any(|it| it.len() > MAX_NAME_LENGTH) {
            let what = format!("must be at most {MAX_TYPES} types of at most {MAX_NAME_LENGTH} bytes");
            return Err(refuse("media_types", "size", &what));
        }
        if provider.len() > MAX_NAME_LENGTH {
            return Err(refuse("provider", "size", &format!("must have at most {MAX_NAME_LENGTH} bytes")));
        }
        let store = &*self.0.store;
        let task = store.task(&user.id, &id).await.map_err(why(&id))?;
        let secret = store.task_secret(&id).await.map_err(why(&id))?.as_bytes().to_vec();
        let workspace = self.0.workspace.of_task(user, &id).await?;
        let wish = RenderOptions { budget: u64::from(budget), media_types, provider, secret };
        let render = RENDERS.run(Some(&user.id), render_task(store, &workspace, (&user.id, &task), wish));
        render.await.map_err(|error| match error {
            RenderError::Timeline(error) => why(&id)(error),
            RenderError::Documents(refusal) => refusal.into(),
            RenderError::Budget(too_small) => TaskRefusal::BudgetTooSmall { least: too_small.least }.into(),
        })
    }
}
