//! `toolwire discover`: looks for stocks worth a look, as a job that is followed to its end.

use std::fmt::Write as _;

use clap::Args;
use serde_json::Value;

use crate::proto::v1::{StartDiscoveryRequest, discovery_service_client::DiscoveryServiceClient};
use toolwire_agent_api::JobMessage;
use toolwire_base::{duration, words::visible};
use toolwire_contract::json;
use toolwire_server::{
    client::{self, Server},
    console::Failure,
};
use toolwire_tool::context::RequestId;

/// Looks for stocks worth a look: browses, drills down, filters, and suggests
///
/// The suggestions are printed on standard output, what is done on standard error. At a server the job goes on if this
/// program is interrupted; `--job` follows it again. Exit code 0 means that the job has ended with its result, 1 that
/// it failed or was cancelled, 130 that this program was interrupted.
#[derive(Debug, Args)]
pub(super) struct Discover {
    /// Maximum number of candidates, 1 to 10 [default: 5]
    #[arg(long, value_name = "N")]
    max_candidates: Option<u32>,
    /// The screen to browse
    #[arg(long, value_name = "SCREEN")]
    screen: Option<String>,
    /// The profile of the rules that candidates must pass
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,
    /// Searches only this source; may be repeated: watchlist, screener, news, reddit, valuepickr
    #[arg(long = "from", value_name = "SOURCE")]
    places: Vec<String>,
    /// Maximum duration of the job, at most 10m [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    max_time: Option<std::time::Duration>,
    /// A UUID by which a repeat is recognised
    #[arg(long, value_name = "UUID")]
    request_id: Option<RequestId>,
}

/// Starts the job on the selected server; returns its name.
pub(super) async fn start(discover: Discover, server: Server) -> Result<String, Failure> {
    let message = StartDiscoveryRequest {
        context: None,
        request_id: discover.request_id.map(|id| id.to_string()).unwrap_or_default(),
        max_candidates: discover.max_candidates.unwrap_or_default(),
        screen_id: discover.screen.unwrap_or_default(),
        profile: discover.profile.unwrap_or_default(),
        sources: discover.places,
        max_time: discover.max_time.map(toolwire_contract::convert::duration),
    };
    let started = DiscoveryServiceClient::new(server).start_discovery(message).await;
    started.map(|started| started.into_inner().job_id).map_err(|status| client::refusal(&status))
}

/// The suggestions, for people.
pub(super) fn tell(job: &JobMessage) -> String {
    let result = job.result.clone().map_or_else(
        || serde_json::from_str(&job.result_json).unwrap_or_default(),
        |result| Value::Object(json::from_struct(result)),
    );
    let text = |value: &Value| visible(value.as_str().unwrap_or_default());
    let mut shown = String::new();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for it in list(&result["suggestions"]) {
        let (symbol, name) = (text(&it["symbol"]), text(&it["name"]));
        let (action, conviction) = (text(&it["action"]), text(&it["conviction"]));
        let _ = writeln!(shown, "{symbol} ({name}): {action}, {conviction} conviction");
        let _ = writeln!(shown, "  {}", text(&it["thesis"]));
        for reason in list(&it["reasons"]) {
            let _ = writeln!(shown, "  + {}", text(&reason));
        }
        for risk in list(&it["risks"]) {
            let _ = writeln!(shown, "  - {}", text(&risk));
        }
        let citations: Vec<_> = list(&it["citations"]).iter().map(|it| format!("[{}]", text(it))).collect();
        let _ = writeln!(shown, "  {}\n", citations.join(" "));
    }
    if shown.is_empty() {
        shown.push_str("No suggestions.\n");
    }
    let note = text(&result["market_note"]);
    if !note.is_empty() {
        let _ = writeln!(shown, "{note}");
    }
    for it in list(&result["skipped"]) {
        let _ = writeln!(shown, "left out: {}: {}", text(&it["what"]), text(&it["reason"]));
    }
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_suggestion_is_shown_with_what_speaks_for_it_and_against_it() {
        let result = json!({
            "suggestions": [{
                "symbol": "TCS", "name": "Tata Consultancy Services", "action": "watch", "conviction": "low",
                "thesis": "Cheap\u{1b}[31m.", "reasons": ["RSI 38"], "risks": ["It waits"], "citations": ["tool:yahoo:v1"],
            }],
            "market_note": "Calm.",
            "skipped": [{"what": "browse_news", "reason": "TIMEOUT"}],
        });
        let shown = tell(&JobMessage { result_json: result.to_string(), ..JobMessage::default() });
        let expected = "TCS (Tata Consultancy Services): watch, low conviction\n  Cheap\\u{1b}[31m.\n  + RSI 38\n  - It waits\n  \
                        [tool:yahoo:v1]\n\nCalm.\nleft out: browse_news: TIMEOUT\n";
        assert_eq!(shown, expected);
        assert_eq!(tell(&JobMessage::default()), "No suggestions.\n");
    }
}
