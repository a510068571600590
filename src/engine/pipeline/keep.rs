//! Keep: data that exceeds what the caller takes is kept whole, so that its model can read on in it.
//!
//! Not here: the part that is shown (`model`), and the tool that reads on.

use std::sync::Arc;

use futures_util::future::{BoxFuture, Either};

use super::{Call, CallResult, Inner, Policy};
use crate::{
    model::READ_RESULT,
    registry::{RegisteredTool, Registry, Status},
};
use toolwire_base::{clock, middleware::Middleware, offload};
use toolwire_contract::{Kept, Payload, Provenance, Terminal, ToolResult};
use toolwire_store::{
    Store, StoreError,
    kept_results::{KeptResult, RETENTION},
};
use toolwire_tokens as tokens;
use toolwire_tool::context::{CallId, UserId};

/// Keeps the data of calls whose options ask for it.
#[derive(Clone, Debug)]
pub struct Keep {
    store: Arc<Store>,
    policy: Arc<dyn Policy>,
    registry: Arc<Registry>,
}

/// The call whose data is kept, and the maximum number of tokens that its caller takes.
struct Keeper {
    store: Arc<Store>,
    user: UserId,
    call_id: CallId,
    max_tokens: u64,
}

impl Keep {
    pub fn new(store: Arc<Store>, policy: Arc<dyn Policy>, registry: Arc<Registry>) -> Self {
        Self { store, policy, registry }
    }

    /// Whether the caller can read on. Otherwise nothing is kept, and so nothing is cut.
    fn can_read_on(&self, call: &Call) -> bool {
        let snapshot = self.registry.snapshot();
        let is_there = |tool: &Arc<RegisteredTool>| !matches!(tool.definition.status, Status::Disabled(_));
        // A part of a result has the size that its caller asked for.
        call.tool().definition.name.as_str() != READ_RESULT
            && call.offers(READ_RESULT)
            && self.policy.may_call(&call.context.user, READ_RESULT)
            && snapshot.get(READ_RESULT).is_some_and(is_there)
    }
}

impl<S: Inner> Middleware<Call, S> for Keep {
    type Future = Either<S::Future, BoxFuture<'static, CallResult>>;

    fn call(&self, call: Call, inner: &mut S) -> Self::Future {
        let max_tokens = call.options.as_ref().and_then(|options| options.keep_over_tokens);
        let Some(max_tokens) = max_tokens.filter(|_| self.can_read_on(&call)) else {
            return Either::Left(inner.call(call));
        };
        let (user, call_id) = (call.context.user.id.clone(), call.context.call_id);
        let keeper = Keeper { store: Arc::clone(&self.store), user, call_id, max_tokens };
        let end = inner.call(call);
        Either::Right(Box::pin(async move {
            Ok(match end.await? {
                Terminal::Result(result) => Terminal::Result(keeper.keep(result).await),
                end @ Terminal::ConfirmationRequired(_) => end,
            })
        }))
    }
}

impl Keeper {
    async fn keep(self, mut result: ToolResult) -> ToolResult {
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
        let max_tokens = self.max_tokens;
        // A token has a byte at least: then there is nothing to count, for which a vocabulary would be read.
        if data.json_text().len() as u64 <= max_tokens {
            return None;
        }
        let data = data.clone();
        let count = offload::if_large(usize::MAX, move || tokens::count(data.json_text()));
        let tokens = offload::on_behalf(self.user.shared(), count).await;
        (tokens > max_tokens).then_some(tokens)
    }

    async fn store(&self, result: &ToolResult, text: &str, tokens: u64) -> Result<Kept, StoreError> {
        let (now, provenance) = (clock::wall(), result.provenance.clone());
        let expires_at = now + RETENTION;
        let kept = KeptResult {
            tool: result.tool.clone(),
            text: text.to_owned(),
            tokens,
            provenance: Provenance {
                // Each response that shows a part of it has a nonce of its own.
                untrusted_nonce: provenance.untrusted_nonce.map(|_| String::new()),
                cached_for: None,
                ..provenance
            },
            expires_at,
        };
        self.store.keep_result(&self.user, self.call_id, &kept, now).await?;
        let (call_id, max_tokens) = (self.call_id.to_string(), self.max_tokens);
        Ok(Kept { call_id, tokens, max_tokens, expires_at })
    }
}
