//! Delivers webhooks of confirmations: takes due messages from the outbox, posts them, and retries failed ones.
//!
//! The answer of an endpoint has no influence on a decision: a decision is a call of `DecideConfirmation` with its own
//! credentials.

use std::{
    convert::Infallible,
    future::pending,
    sync::Arc,
    time::{Duration, SystemTime},
};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::{select, time::sleep};

use toolwire_base::clock;
use toolwire_config::{Webhook, webhook_key};
use toolwire_contract::ConsoleLinks;
use toolwire_outgoing::Egress;
use toolwire_sources::upstream::webhook::{NotTaken, Poster};
use toolwire_state::{
    Store,
    confirmations::Change,
    outbox::{Event, Message, Subscription},
};
use toolwire_telemetry::metric;

/// How often the outbox is looked at, beside when this process changes something.
const LOOK: Duration = Duration::from_secs(1);

/// Maximum number of concurrent deliveries of one webhook.
const AT_ONCE: u32 = 8;

/// A message is leased for this long, which is longer than an attempt takes.
const HELD: Duration = Duration::from_secs(30);

/// Tells the webhooks for as long as it is polled.
pub(super) async fn run(
    state: &Arc<Store>,
    egress: &Egress,
    console: &ConsoleLinks,
    webhooks: &[Webhook],
) -> Infallible {
    let has = |webhook: &Webhook, event: Event| webhook.events.iter().any(|it| it == event.into_str());
    let all: Vec<_> = webhooks
        .iter()
        .map(|webhook| Subscription {
            url: webhook.url.to_string(),
            requested: has(webhook, Event::Requested),
            decided: has(webhook, Event::Decided),
            expired: has(webhook, Event::Expired),
        })
        .collect();
    // What cannot be written now is written when the state can be.
    while let Err(error) = state.subscribe_webhooks(&all).await {
        if all.is_empty() {
            return pending().await;
        }
        tracing::warn!(%error, "webhooks are not delivered yet");
        sleep(LOOK).await;
    }
    join_all(webhooks.iter().map(|webhook| serve(state, egress, console, webhook))).await;
    pending().await
}

async fn serve(state: &Store, egress: &Egress, console: &ConsoleLinks, webhook: &Webhook) {
    let poster = match Poster::new(egress, webhook.url.scheme() == "https") {
        Ok(poster) => poster,
        Err(error) => {
            tracing::error!(%error, "a webhook cannot be delivered");
            return;
        }
    };
    let url = webhook.url.to_string();
    let mut changed = loop {
        match state.follow_confirmations().await {
            Ok(changed) => break changed,
            Err(_) => sleep(LOOK).await,
        }
    };
    loop {
        changed.mark_unchanged();
        let taken = state.take_messages(&url, HELD, AT_ONCE).await.unwrap_or_default();
        let is_empty = taken.is_empty();
        join_all(taken.into_iter().map(|message| tell(state, (webhook, console), &poster, message))).await;
        if is_empty {
            select! {
                _ = changed.changed() => {}
                () = sleep(LOOK) => {}
            }
        }
    }
}

/// Posts a message once, and says what becomes of it.
async fn tell(
    state: &Store,
    (webhook, console): (&Webhook, &ConsoleLinks),
    poster: &Poster,
    message: Message,
) {
    let Message { id, event, change, attempts, expires_at } = message;
    let Some(change) = change else {
        let _ = state.delete_message(&id).await;
        return;
    };
    let keys: Vec<_> = webhook.secrets.iter().map(webhook_key).collect();
    let body = body(event, &change, webhook.arguments, console).to_string();
    let result = poster.post(&webhook.url, &keys, &id, body).await;
    let outcome = match result {
        Ok(()) => {
            let _ = state.delete_message(&id).await;
            "delivered"
        }
        Err(error) => again(state, webhook, &id, &change, &error, (attempts, expires_at)).await,
    };
    metric::webhook_attempted(outcome);
}

/// Tries again later, as long as that is of use.
async fn again(
    state: &Store,
    webhook: &Webhook,
    id: &str,
    change: &Change,
    error: &NotTaken,
    (attempts, expires_at): (u32, SystemTime),
) -> &'static str {
    let confirmation = &change.confirmation.id;
    let tried = usize::try_from(attempts).unwrap_or(usize::MAX).saturating_sub(1);
    let pause = webhook.retries.get(tried).or(webhook.retries.last()).copied().unwrap_or(LOOK);
    let next = state.now() + pause;
    let is_of_use = next < expires_at || tried < webhook.retries.len();
    if !is_of_use {
        let host = webhook.url.host_str().unwrap_or_default();
        tracing::warn!(%error, %confirmation, webhook_id = id, host, attempts, "a webhook is not delivered: given up");
        let _ = state.delete_message(id).await;
        return "given_up";
    }
    let _ = state.postpone_message(id, pause).await;
    "retried"
}

/// The body of a delivery: never who may decide, and arguments only if configured.
fn body(event: Event, change: &Change, with_arguments: bool, console: &ConsoleLinks) -> Value {
    let it = &change.confirmation;
    let asked = &it.asked;
    let mut data = json!({
        "confirmation_id": it.id.as_str(),
        "state": it.state.into_str(),
        "tool": it.key.tool.as_str(),
        "path": asked.path.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "user_id": it.key.user.as_str(),
        "consequence_level": asked.consequence_level.as_str_name(),
        "arguments_digest": it.arguments_digest.to_string(),
        "definition_digest": asked.definition_digest.to_string(),
        "request_id": asked.outermost.request_id.to_string(),
        "call_id": asked.outermost.call_id.to_string(),
        "task_id": asked.task_id.as_ref().map(ToString::to_string),
        "created_at": clock::rfc3339(it.created_at),
        "expires_at": clock::rfc3339(it.expires_at),
        "reason": it.reason,
        "sequence": it.sequence,
        "url": console.confirmation(&it.id),
    });
    if let Some(decided) = &it.decided {
        data["decided_by"] = json!(decided.by.as_str());
        data["decided_at"] = json!(clock::rfc3339(decided.at));
        data["on_behalf_of"] = json!(decided.on_behalf_of);
    }
    if with_arguments {
        data["summary"] = json!(asked.summary);
        data["arguments"] = json!(asked.arguments);
    }
    json!({"type": format!("confirmation.{}", event.into_str()), "timestamp": clock::rfc3339(change.at), "data": data})
}
