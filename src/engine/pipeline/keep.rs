//! Keep: stores the whole data of a result that exceeds the caller's limit. Its model can then read on in it, both
//! after the call and after a later query of the call.
//!
//! Not here: the part that is shown (`model`), and the tool that reads on.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::SystemTime,
};

use futures_util::future::BoxFuture;
use pin_project_lite::pin_project;

use super::{Call, CallResult, Inner, Policy};
use crate::{
    model::READ_RESULT,
    registry::{RegisteredTool, Registry, Status},
};
use toolwire_base::{middleware::Middleware, offload};
use toolwire_contract::{Kept, Payload, Provenance, Terminal, ToolName, ToolResult};
use toolwire_db::StoreError;
use toolwire_state::{Store, kept_results::NewKeptResult};
use toolwire_tokens as tokens;
use toolwire_tool::context::{CallId, User, UserId};

/// Keeps the data of calls whose options ask for it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Keep {
    store: Arc<Store>,
    policy: Arc<dyn Policy>,
    registry: Arc<Registry>,
}

/// The call whose data is kept, and the maximum number of tokens that its caller takes.
#[derive(Debug)]
pub struct Keeper {
    store: Arc<Store>,
    user: UserId,
    call_id: CallId,
    max_tokens: u64,
}

impl Keep {
    pub fn new(store: Arc<Store>, policy: Arc<dyn Policy>, registry: Arc<Registry>) -> Self {
        Self { store, policy, registry }
    }

    /// Keeps the result of a user's call that has ended, unless it is kept already.
    pub async fn keep_ended(
        &self,
        user: &User,
        call_id: CallId,
        max_tokens: u64,
        mut result: ToolResult,
    ) -> ToolResult {
        if !self.can_read_on(user, &result.tool) {
            return result;
        }
        let keeper = self.keeper(user, call_id, max_tokens);
        match keeper.find().await {
            Ok(Some(kept)) if kept.tokens > max_tokens => {
                result.kept = Some(Box::new(kept));
                result
            }
            // If it cannot be read it cannot be written either, which is logged.
            Ok(_) | Err(_) => keeper.keep(result).await,
        }
    }

    /// Whether the user can read on in results of a tool. Otherwise nothing is kept, and so nothing is cut.
    fn can_read_on(&self, user: &User, tool: &ToolName) -> bool {
        let snapshot = self.registry.snapshot();
        // A provider's tool of this name reads something else.
        let may_read = |tool: &Arc<RegisteredTool>| {
            tool.definition.provider().is_none()
                && !matches!(tool.definition.status, Status::Disabled(_))
                && self.policy.may_call(user, tool.definition.rule_target())
        };
        // A part of a result has the size that its caller asked for.
        tool.as_str() != READ_RESULT && snapshot.get(READ_RESULT).is_some_and(may_read)
    }

    fn keeper(&self, user: &User, call_id: CallId, max_tokens: u64) -> Keeper {
        Keeper { store: Arc::clone(&self.store), user: user.id.clone(), call_id, max_tokens }
    }
}

impl<S: Inner> Middleware<Box<Call>, S> for Keep {
    type Future = ResponseFuture<S::Future>;

    fn call(&self, call: Box<Call>, inner: &mut S) -> Self::Future {
        let max_tokens = call.options.as_ref().and_then(|options| options.keep_over_tokens);
        let can_read_on =
            || call.offers(READ_RESULT) && self.can_read_on(&call.context.user, &call.tool().definition.name);
        let max_tokens = max_tokens.filter(|_| can_read_on());
        let keeper = max_tokens.map(|most| self.keeper(&call.context.user, call.context.call_id, most));
        ResponseFuture::Calling { inner: inner.call(call), keeper }
    }
}

pin_project! {
    /// The end of a call, whose data is kept first if it may exceed what the caller takes.
    #[project = Projection]
    pub enum ResponseFuture<F> {
        Calling { #[pin] inner: F, keeper: Option<Keeper> },
        Keeping { kept: BoxFuture<'static, ToolResult> },
    }
}

impl<F: Future<Output = CallResult>> Future for ResponseFuture<F> {
    type Output = CallResult;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<CallResult> {
        if let Projection::Calling { inner, keeper } = self.as_mut().project() {
            let end = ready!(inner.poll(cx));
            match (end, keeper.take()) {
                (Ok(Terminal::Result(result)), Some(keeper)) if !keeper.surely_fits(&result) => {
                    self.set(Self::Keeping { kept: Box::pin(keeper.keep(result)) });
                }
                (end, _) => return Poll::Ready(end),
            }
        }
        match self.project() {
            Projection::Keeping { kept } => kept.as_mut().poll(cx).map(|result| Ok(Terminal::Result(result))),
            Projection::Calling { .. } => unreachable!("the call has ended"),
        }
    }
}

impl Keeper {
    /// Whether there is nothing to count, for which a vocabulary would be read: a token has a byte at least.
    fn surely_fits(&self, result: &ToolResult) -> bool {
        result.outcome.as_ref().map_or(true, |data| data.json_text().len() as u64 <= self.max_tokens)
    }

    async fn keep(self, mut result: ToolResult) -> ToolResult {
        if self.surely_fits(&result) {
            return result;
        }
        let Ok(data) = &result.outcome else { return result };
        let Some(tokens) = self.tokens_over(data).await else { return result };
        let stored = self.store(&result, data.json_text(), tokens).await;
        match stored {
            Ok(kept) => result.kept = Some(Box::new(kept)),
            // Not an error of the call, which has its data.
            Err(error) => tracing::warn!(%error, call_id = %self.call_id, "a large result cannot be kept"),
        }
        result
    }

    /// The tokens of the data, if they exceed the maximum.
    async fn tokens_over(&self, data: &Payload) -> Option<u64> {
        let data = data.clone();
        let count = offload::if_large(usize::MAX, move || tokens::count(data.json_text()));
        let tokens = offload::on_behalf(self.user.shared(), count).await;
        (tokens > self.max_tokens).then_some(tokens)
    }

    async fn store(&self, result: &ToolResult, text: &str, tokens: u64) -> Result<Kept, StoreError> {
        let provenance = result.provenance.clone();
        let provenance = Provenance {
            // Each response that shows a part of it has a nonce of its own.
            untrusted_nonce: provenance.untrusted_nonce.map(|_| String::new()),
            cached_for: None,
            ..provenance
        };
        let kept = NewKeptResult { tool: &result.tool, text, tokens, provenance: &provenance };
        let expires_at = self.store.keep_result(&self.user, self.call_id, &kept).await?;
        Ok(self.reference(tokens, expires_at))
    }

    /// The result of the call, if it is kept.
    async fn find(&self) -> Result<Option<Kept>, StoreError> {
        let found = self.store.kept_result(&self.user, self.call_id).await?;
        Ok(found.map(|kept| self.reference(kept.tokens, kept.expires_at)))
    }

    fn reference(&self, tokens: u64, expires_at: SystemTime) -> Kept {
        Kept { call_id: self.call_id.to_string(), tokens, max_tokens: self.max_tokens, expires_at }
    }
}
