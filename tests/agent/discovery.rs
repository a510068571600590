//! Discovery as a job: its lines to the character, its suggestions, what a source that refuses us
//! does to it, and a model whose words are checked.

use serde_json::Value;
use toolwire::{
    agent::service::jobs::Jobs,
    contract::proto::agent::v1::{Job, JobEvent, JobState},
    domains::research::proto::v1::{StartDiscoveryRequest, discovery_service_client::DiscoveryServiceClient},
    sources::models::scripted::{Scripted as Model, text},
};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

use super::*;

/// One candidate: the one stock of the watch-list.
fn one() -> StartDiscoveryRequest {
    StartDiscoveryRequest {
        max_candidates: 1,
        sources: vec!["watchlist".to_owned(), "valuepickr".to_owned()],
        ..StartDiscoveryRequest::default()
    }
}

impl Person {
    async fn discover(&self, request: StartDiscoveryRequest) -> Result<String, Status> {
        let mut client = DiscoveryServiceClient::new(self.channel.clone());
        Ok(client.start_discovery(self.request(request)).await?.into_inner().job_id)
    }

    /// Every event of a discovery, and its result.
    async fn discovered(&self, request: StartDiscoveryRequest) -> (Vec<JobEvent>, Job, Value) {
        let job_id = self.discover(request).await.unwrap();
        let events = self.watch(&job_id, None, 1_000).await.unwrap();
        let job = events.last().unwrap().ended.clone().unwrap();
        let result = serde_json::from_str(&job.result_json).unwrap();
        (events, job, result)
    }

    /// Puts a stock on the watch-list.
    async fn watches(&self, symbol: &str) {
        let plan = json!({"calls": [call("add_to_watchlist", &json!({"symbol": symbol}))]});
        let reply = self.reply(says(&json!({"plans": [plan], "answer": ["Done."]}))).await;
        assert_eq!(reply.usage.unwrap().calls, 1);
    }
}

fn lines(events: &[JobEvent]) -> Vec<&str> {
    events.iter().map(|event| event.line.as_str()).collect()
}

/// That each of these lines is there, in this order; `*` stands for any figure.
#[track_caller]
fn assert_in_order(lines: &[&str], wanted: &[&str]) {
    let mut left = lines.iter();
    for wanted in wanted {
        let is_it = |line: &&&str| {
            let mut rest = **line;
            let pieces: Vec<_> = wanted.split('*').collect();
            let fits = pieces.iter().all(|piece| match rest.find(piece) {
                Some(at) => {
                    rest = &rest[at + piece.len()..];
                    true
                }
                None => false,
            });
            fits && line.starts_with(pieces[0]) && line.ends_with(pieces[pieces.len() - 1])
        };
        assert!(left.any(|line| is_it(&line)), "no {wanted:?} in its place in {lines:#?}");
    }
}

#[tokio::test]
async fn the_lines_are_those_of_the_specification_to_the_character() {
    let house = House::new();
    let riley = house.person("riley").await;
    riley.watches("RELIANCE").await;
    let (events, job, result) = riley.discovered(one()).await;
    assert_eq!(job.state(), JobState::Succeeded, "{job:?}");
    let lines = lines(&events);
    assert_in_order(
        &lines,
        &[
            "[10%] Starting discovery cycle...",
            "[23%] 🔍 Reading the watchlist...",
            "[30%] 🔍 Browsing ValuePickr for ideas...",
            "[32%] Found RELIANCE",
            "[35%] 🔧 get_stock_thesis(\"RELIANCE\") → Found thesis",
            "[40%] 🔧 get_technicals(\"RELIANCE\") → RSI: *, SMA200: *%",
            "[45%] 🔧 get_fundamentals(\"RELIANCE\") → P/E: *",
            "[50%] Agent analyzing RELIANCE...",
            "[60%] 🔧 check_wait_zone(\"RELIANCE\", \"value\") → *",
            "[70%] 🔧 check_forbidden(\"RELIANCE\", \"default\") → *",
            "[80%] Writing suggestions...",
            "[100%] Discovery ended with 1 suggestion",
        ],
    );
    assert!(events.iter().enumerate().all(|(at, event)| event.sequence == at as u64));
    assert!(events.is_sorted_by_key(|event| event.percent));
    let called = events.iter().filter(|event| event.message.starts_with('🔧'));
    assert!(called.clone().count() == 5 && called.clone().all(|event| !event.call_id.is_empty()));
    let suggestion = &result["suggestions"][0];
    assert_eq!(suggestion["symbol"], "RELIANCE");
    assert_eq!(suggestion["name"], "Reliance Industries");
    assert!(suggestion["found_in"].as_array().unwrap().contains(&json!("watchlist")), "{suggestion}");
    let sources = result["sources"].as_array().unwrap();
    let citations = suggestion["citations"].as_array().unwrap();
    assert!(!citations.is_empty() && citations.iter().all(|it| sources.contains(it)), "{result}");
    // The figures are those of the tools.
    let technicals = lines.iter().find(|line| line.contains("get_technicals")).unwrap();
    assert!(
        technicals.contains(&format!("RSI: {:.0}", suggestion["rsi_14"].as_f64().unwrap())),
        "{technicals}"
    );
    assert_eq!(
        (result["model"].as_str(), result["invocations"].as_u64()),
        (Some("embedded"), Some(8)),
        "{result}"
    );
}

#[tokio::test]
async fn everything_is_browsed_once_and_what_may_not_be_bought_is_not_suggested_for_it() {
    let house = House::new();
    let riley = house.person("riley").await;
    let (events, job, result) = riley.discovered(StartDiscoveryRequest::default()).await;
    assert_eq!(job.state(), JobState::Succeeded, "{job:?}");
    let browsed: Vec<_> = lines(&events).into_iter().filter(|line| line.contains('🔍')).collect();
    assert_eq!(browsed.len(), 6, "{browsed:?}");
    assert!(browsed[5].starts_with("[30%] 🔍 Browsing ValuePickr for ideas..."), "{browsed:?}");
    assert!(events.is_sorted_by_key(|event| event.percent));
    let suggestions = result["suggestions"].as_array().unwrap();
    assert_eq!(suggestions.len(), 5, "{result}");
    for it in suggestions {
        let waits = it["wait_zone"]["is_wait_zone"] == true;
        let forbidden = it["forbidden"]["is_forbidden"] == true;
        let unknown = it["forbidden"]["unknown"].as_array().is_none_or(|unknown| !unknown.is_empty());
        assert!(it["action"] != "buy" || !(waits || forbidden || unknown), "{it}");
        assert_eq!(it["action"] == "avoid", forbidden, "{it}");
        assert!(!it["thesis"].as_str().unwrap().is_empty() && !it["reasons"].as_array().unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_profile_of_the_wait_zone_reaches_it_and_what_speaks_against_a_stock_is_a_risk() {
    let house = House::new();
    let riley = house.person("riley").await;
    let request =
        StartDiscoveryRequest { max_candidates: 10, profile: "momentum".to_owned(), ..Default::default() };
    let (events, job, result) = riley.discovered(request).await;
    assert_eq!(job.state(), JobState::Succeeded, "{job:?}");
    assert!(lines(&events).iter().any(|line| line.contains(", \"momentum\") → ")), "{:#?}", lines(&events));
    let suggestions = result["suggestions"].as_array().unwrap();
    let texts =
        |list: &Value| list.as_array().unwrap().iter().map(Value::to_string).collect::<Vec<_>>().join(" ");
    for it in suggestions {
        let is_overbought = it["rsi_14"].as_f64().is_some_and(|rsi| rsi >= 70.0);
        assert_eq!(texts(&it["risks"]).contains("overbought"), is_overbought, "{it}");
        assert!(!texts(&it["reasons"]).contains(": overbought"), "{it}");
        let is_disliked = texts(&it["risks"]).contains("of the last posts of its thread");
        assert!(!is_disliked || it["conviction"] != "high" || it["action"] == "avoid", "{it}");
    }
    let high = suggestions.iter().filter(|it| it["conviction"] == "high").count();
    assert!(high * 2 <= suggestions.len(), "{result}");
}

impl House {
    /// A server whose texts this model writes.
    fn with_model(model: &Model) -> Self {
        Self::changed(
            Mode::Native,
            |_| (),
            |app| {
                let jobs = app.part::<Jobs>().with_model(Some(Arc::new(model.clone())));
                // Its service starts them by a part of its own.
                app.set_part(jobs.starter());
                app.set_part(jobs);
            },
        )
    }
}

/// A server of which one source is live, at this address.
fn with_forum(uri: &str) -> House {
    use toolwire::sources::upstream::settings::{Modes, Settings, SourceSettings};
    House::with(Mode::Native, |config| {
        let set = SourceSettings {
            addresses: [("base_url", format!("{uri}/").parse().unwrap())].into(),
            min_delay: Some(std::time::Duration::ZERO),
            ..SourceSettings::default()
        };
        let sources = Settings {
            mode: Modes::parse("embedded,valuepickr=live", &["valuepickr"]).unwrap(),
            sources: [("valuepickr".to_owned(), set)].into(),
            ..Settings::default()
        };
        *config = config.clone().with(sources);
    })
}

#[tokio::test]
async fn a_source_that_refuses_us_ends_it_with_an_alert_and_what_there_is() {
    let forum = MockServer::start().await;
    Mock::given(any()).respond_with(ResponseTemplate::new(403)).mount(&forum).await;
    let house = with_forum(&forum.uri());
    let riley = house.person("riley").await;
    riley.watches("RELIANCE").await;
    let (events, job, result) = riley.discovered(one()).await;
    let error = job.error.clone().unwrap();
    assert_eq!(
        (job.state(), error.code.as_str(), error.retryable),
        (JobState::Failed, "BLOCKED", false),
        "{job:?}"
    );
    assert_eq!(result["alerts"][0]["source"], "valuepickr", "{result}");
    assert!(!lines(&events).iter().any(|line| line.contains('🔧')), "nothing more is called");
    assert_eq!(result["suggestions"], json!([]));
    // Again, from what is there without that source.
    let elsewhere = StartDiscoveryRequest { sources: vec!["watchlist".to_owned()], ..one() };
    let (_, job, result) = riley.discovered(elsewhere).await;
    assert_eq!(job.state(), JobState::Failed);
    assert_eq!(result["suggestions"].as_array().unwrap().len(), 0, "{result}");
}

#[tokio::test]
async fn what_fails_otherwise_is_left_out_and_said() {
    let forum = MockServer::start().await;
    Mock::given(any()).respond_with(ResponseTemplate::new(404)).mount(&forum).await;
    let house = with_forum(&forum.uri());
    let riley = house.person("riley").await;
    riley.watches("RELIANCE").await;
    let (events, job, result) = riley.discovered(one()).await;
    assert_eq!(job.state(), JobState::Succeeded, "{job:?}");
    assert_in_order(&lines(&events), &["[35%] 🔧 get_stock_thesis(\"RELIANCE\") → *"]);
    let skipped = result["skipped"].as_array().unwrap();
    assert!(skipped.iter().any(|it| it["what"] == "browse_valuepickr"), "{result}");
    assert_eq!(result["suggestions"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_model_writes_words_and_decides_no_more_than_rules_allow() {
    let answer = json!({
        "market_note": "Calm, and 987654 people say so.",
        "suggestions": [
            {
                "symbol": "RELIANCE", "action": "buy", "conviction": "high",
                "thesis": "A steady business.",
                "reasons": ["It earns well.", "It will rise by 123456 percent."],
                "risks": ["Oil prices."],
            },
            {"symbol": "NOSUCH", "action": "buy", "conviction": "high", "thesis": "x", "reasons": [], "risks": []},
        ],
    });
    let model = Model::saying([text("Here you are: nothing"), text(&format!("```json\n{answer}\n```"))]);
    let house = House::with_model(&model);
    let riley = house.person("riley").await;
    riley.watches("RELIANCE").await;
    let (_, job, result) = riley.discovered(one()).await;
    assert_eq!(job.state(), JobState::Succeeded, "{job:?}");
    let it = &result["suggestions"][0];
    assert_eq!(
        (result["model"].as_str(), result["suggestions"].as_array().unwrap().len()),
        (Some("scripted/script"), 1)
    );
    assert_eq!(
        (it["thesis"].as_str(), &it["reasons"]),
        (Some("A steady business."), &json!(["It earns well."]))
    );
    let may_buy = it["wait_zone"]["is_wait_zone"] == false
        && it["forbidden"]["is_forbidden"] == false
        && it["forbidden"]["unknown"] == json!([]);
    assert!(it["action"] != "buy" || may_buy, "{it}");
    assert!(it["risks"].as_array().unwrap().contains(&json!("Oil prices.")));
    assert!(!result["market_note"].as_str().unwrap().contains("987654"), "{result}");
    assert!(result["skipped"].as_array().unwrap().iter().any(|it| it["what"] == "model"), "{result}");
    // It was told what holds of tools, and asked again for what it did not answer.
    let asked = model.requests();
    assert_eq!(asked.len(), 2);
    assert!(asked[0].system.contains("Max 12 calls per cycle") && asked[0].json_schema.is_some());
    assert!(asked[0].tools.is_none());
}

#[tokio::test]
async fn without_a_readable_answer_of_the_model_the_words_are_by_rule_and_that_is_said() {
    let model = Model::saying([text("no"), text("<html>")]);
    let house = House::with_model(&model);
    let riley = house.person("riley").await;
    riley.watches("RELIANCE").await;
    let (_, job, result) = riley.discovered(one()).await;
    assert_eq!((job.state(), result["model"].as_str()), (JobState::Succeeded, Some("embedded")), "{job:?}");
    assert_eq!(result["skipped"][0]["what"], "model", "{result}");
    assert!(!result["suggestions"][0]["thesis"].as_str().unwrap().is_empty());
}

/// What requires a person is left out: a workflow asks nobody, and so carries it out for nobody.
#[tokio::test]
async fn a_tool_that_requires_a_person_is_not_called() {
    let data = crate::support::data_directory();
    let changes = json!({"requires_confirmation": true});
    crate::support::patch_json(&data.path().join("tools/get_stock_thesis.json"), &changes);
    let house = House::with(Mode::Native, |config| config.data.dir = Some(data.path().to_owned()));
    let riley = house.person("riley").await;
    riley.watches("RELIANCE").await;
    let (_, job, result) = riley.discovered(one()).await;
    assert_eq!(job.state(), JobState::Succeeded, "{job:?}");
    let skipped = result["skipped"].as_array().unwrap();
    let is_it = |it: &&Value| it["what"] == "get_stock_thesis";
    let reason = skipped.iter().find(is_it).unwrap()["reason"].as_str().unwrap();
    assert!(reason.contains("a person must approve"), "{reason}");
}

#[tokio::test]
async fn what_is_asked_is_checked_before_anything_runs() {
    let house = House::new();
    let riley = house.person("riley").await;
    let context = ToolContext { task_id: "t".to_owned(), ..ToolContext::default() };
    for (request, expected) in [
        (StartDiscoveryRequest { max_candidates: 11, ..one() }, "max_candidates"),
        (StartDiscoveryRequest { sources: vec!["rumours".to_owned()], ..one() }, "sources"),
        (StartDiscoveryRequest { request_id: "42".to_owned(), ..one() }, "request_id"),
        (StartDiscoveryRequest { profile: "nope".to_owned(), ..one() }, "core, default, momentum, value"),
        (StartDiscoveryRequest { screen_id: "x".repeat(65), ..one() }, "screen_id"),
        (StartDiscoveryRequest { max_time: Some(prost_types::Duration::default()), ..one() }, "max_time"),
        (StartDiscoveryRequest { context: Some(context), ..one() }, "context"),
    ] {
        let words = assert_refused(riley.discover(request).await, Code::InvalidArgument, "INVALID_REQUEST");
        assert!(words.contains(expected), "{words}");
    }
}
