//! The audit as every face offers it: which user sees which records. Not here: what is recorded (`toolwire-state`).

use std::sync::Arc;

use super::{
    page::{List, PageToken, Sizes},
    request::refuse,
    unavailable::unavailable,
};
use toolwire_contract::Refusal;
use toolwire_engine::pipeline::Policy;
use toolwire_state::{
    Store,
    audit::{Criteria, RETENTION, Record},
    refusals::{self, RefusalRecord},
};
use toolwire_tool::context::{RefusalLog, RefusedRequest, User};

pub use toolwire_state::audit::Filter;

const SIZES: Sizes = Sizes { default: 100, max: 1_000 };

/// Maximum number of tools in a filter.
const MAX_TOOLS: usize = 32;

/// Maximum length of an identifier in a filter, in bytes.
const MAX_ID_LENGTH: usize = 64;

/// The audit, as every face offers it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Audit {
    store: Arc<Store>,
    policy: Arc<dyn Policy>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The newest first.
    pub records: Vec<Record>,
    /// The token of the next page; empty on the last one.
    pub next: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusalPage {
    /// The newest first.
    pub refusals: Vec<RefusalRecord>,
    /// The token of the next page; empty on the last one.
    pub next: String,
}

impl Audit {
    pub fn new(store: Arc<Store>, policy: Arc<dyn Policy>) -> Self {
        Self { store, policy }
    }

    /// The records that the user may see and that pass the filter: what the user did, and decisions on the user's
    /// calls; everything for observers. The newest first; `size` 0 is the usual size.
    pub async fn list(&self, user: &User, filter: Filter, size: i32, token: &str) -> Result<Page, Refusal> {
        check(&filter)?;
        let size = SIZES.of(size)?;
        let page_token = PageToken::of(&self.store, List::AUDIT, &user.id, &filter).await?;
        let before = page_token.decode(token)?.map(u64::from_be_bytes);
        let observes = self.policy.may_observe(user);
        let oldest = self.store.now().checked_sub(RETENTION);
        // Expired records are hidden even before the sweep deletes them.
        let filter = Filter { since: filter.since.max(oldest), ..filter };
        let criteria = Criteria { seen_by: (!observes).then(|| user.id.clone()), filter };
        let records = self.store.audit_records(&criteria, before, size + 1).await;
        let mut records = records.map_err(|error| unavailable(&error))?;
        let goes_on = records.len() > size as usize;
        records.truncate(size as usize);
        let last = records.last().filter(|_| goes_on).map(|record| record.sequence);
        for record in &mut records {
            // Where others came from is for observers.
            if !observes && record.user != user.id.as_str() {
                record.peer = None;
                record.workload.clear();
            }
        }
        Ok(Page { records, next: last.map(|it| page_token.encode(it.to_be_bytes())).unwrap_or_default() })
    }

    /// The refusals that the user may see and that pass the filter: the user's own; everything for observers. The
    /// newest first; `size` 0 is the usual size.
    pub async fn list_refusals(
        &self,
        user: &User,
        filter: refusals::Filter,
        size: i32,
        token: &str,
    ) -> Result<RefusalPage, Refusal> {
        if filter.reasons.len() > MAX_TOOLS {
            return Err(refuse("reasons", "max_items", &format!("must have at most {MAX_TOOLS} elements")));
        }
        let size = SIZES.of(size)?;
        let page_token = PageToken::of(&self.store, List::REFUSALS, &user.id, &filter).await?;
        let before = page_token.decode(token)?.map(u64::from_be_bytes);
        let oldest = self.store.now().checked_sub(RETENTION);
        let filter = refusals::Filter { since: filter.since.max(oldest), ..filter };
        let seen_by = (!self.policy.may_observe(user)).then(|| user.id.clone());
        let criteria = refusals::Criteria { seen_by, filter };
        let refusals = self.store.refusals(&criteria, before, size + 1).await;
        let mut refusals = refusals.map_err(|error| unavailable(&error))?;
        let goes_on = refusals.len() > size as usize;
        refusals.truncate(size as usize);
        let last = refusals.last().filter(|_| goes_on).map(|it| it.sequence);
        let next = last.map(|it| page_token.encode(it.to_be_bytes())).unwrap_or_default();
        Ok(RefusalPage { refusals, next })
    }

    /// Notes a refusal.
    pub(super) fn note(&self, refused: &RefusedRequest<'_>) {
        self.store.note(refused);
    }
}

fn check(filter: &Filter) -> Result<(), Refusal> {
    if filter.tools.len() > MAX_TOOLS {
        let what = format!("must have at most {MAX_TOOLS} elements");
        return Err(refuse("filter.tools", "max_items", &what));
    }
    for (field, text) in
        [("filter.call_id", &filter.call_id), ("filter.confirmation_id", &filter.confirmation_id)]
    {
        if text.len() > MAX_ID_LENGTH {
            return Err(refuse(field, "max_length", &format!("must have at most {MAX_ID_LENGTH} bytes")));
        }
    }
    Ok(())
}
