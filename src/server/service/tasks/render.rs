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

/// The tokens of a render, unless its caller says otherwise, and its bounds.
const USUAL: u32 = 60_000;
const LEAST: u32 = 1_000;
const MOST: u32 = 500_000;

/// The most types of media, and the longest of them and of the provider's name, in bytes.
const MOST_TYPES: usize = 32;
const LONGEST: usize = 127;

/// How a task is to be rendered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenderWish {
    /// Maximum number of tokens. 0: the default.
    pub token_budget: u32,
    /// Types of media that the model takes.
    pub media_types: Vec<String>,
    /// The provider, whose opaque parts are wanted.
    pub provider: String,
}

/// Renders at once, of all users and of one: each reads as much as a budget may be.
static RENDERS: LazyLock<FairSemaphore<UserId>> = LazyLock::new(|| FairSemaphore::new(16, 2));

impl Tasks {
    /// Renders a task's timeline for a model.
    pub async fn render(&self, user: &User, id: &str, wish: RenderWish) -> Result<Rendering, Refusal> {
        let id = parse_id(id)?;
        let RenderWish { token_budget, media_types, provider } = wish;
        let budget = match token_budget {
            0 => USUAL,
            LEAST..=MOST => token_budget,
            _ => {
                let what = format!("must be from {LEAST} to {MOST}, or 0 for {USUAL}");
                return Err(refuse("token_budget", "range", &what));
            }
        };
        if media_types.len() > MOST_TYPES || media_types.iter().any(|it| it.len() > LONGEST) {
            let what = format!("must be at most {MOST_TYPES} types of at most {LONGEST} bytes");
            return Err(refuse("media_types", "size", &what));
        }
        if provider.len() > LONGEST {
            return Err(refuse("provider", "size", &format!("must have at most {LONGEST} bytes")));
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
