//! The scenarios, each with the tool that it calls.

use std::time::Duration;

use futures_util::{FutureExt, StreamExt, TryStreamExt, future::BoxFuture, stream};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::observe::Caller;
use toolwire_base::clock;
use toolwire_contract::proto::v1::ToolErrorCode as Code;
use toolwire_tool::context::RequestId;

/// The codes that a host may answer with and that a caller of a read sees as they are. The last begins a cool-down.
const CODES: [Code; 13] = [
    Code::RateLimited,
    Code::NotFound,
    Code::Timeout,
    Code::Blocked,
    Code::ParseError,
    Code::InvalidArgument,
    Code::PermissionDenied,
    Code::Cancelled,
    Code::Unavailable,
    Code::Conflict,
    Code::ResultTooLarge,
    Code::Unknown,
    Code::AuthFailed,
];

/// How long a lost write waits for its outcome, and a little more.
const UNKNOWN_WITHIN: Duration = Duration::from_secs(12);
/// A cool-down, and a little more.
const COOLED_WITHIN: Duration = Duration::from_secs(65);
/// Within this time a host has to be there again.
const BACK_WITHIN: Duration = Duration::from_mins(1);

type Outcome = Result<(), String>;

pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) tool: &'static str,
    pub(super) ends_a_host: bool,
    pub(super) run: for<'a> fn(&'a Caller<'a>) -> BoxFuture<'a, Outcome>,
}

pub(super) const SCENARIOS: [Scenario; 9] = [
    scenario("a call has the arguments and the data", "check_echo", |it| echo(it).boxed()),
    scenario("calls follow each other on their slots", "check_echo", |it| echoes(it).boxed()),
    scenario("progress and chunks come in order before the result", "check_stream", |it| stream(it).boxed()),
    scenario("a cancelled call frees its slot", "check_sleep", |it| cancel(it).boxed()),
    scenario("a deadline ends a call and frees its slot", "check_sleep", |it| deadline(it).boxed()),
    scenario("a repeat of a write has one effect", "check_write", |it| write(it).boxed()),
    scenario("large data arrives, and too large data is an error", "check_large", |it| large(it).boxed()),
    Scenario {
        ends_a_host: true,
        ..scenario("a write is unknown if its host ends", "check_crash", |it| crash(it).boxed())
    },
    // Last: nothing is called during a cool-down.
    scenario("each code of an error arrives", "check_fail", |it| fail(it).boxed()),
];

const fn scenario(
    name: &'static str,
    tool: &'static str,
    run: for<'a> fn(&'a Caller<'a>) -> BoxFuture<'a, Outcome>,
) -> Scenario {
    Scenario { name, tool, ends_a_host: false, run }
}

async fn echo(caller: &Caller<'_>) -> Outcome {
    wait_out_cool_down(caller).await?;
    for text in ["", "one\ntwo \"three\" \\ \u{1}", "äöü 漢字 🦀", &"a".repeat(100_000)] {
        let arguments = json!({ "text": text });
        expect(&caller.call("check_echo", &arguments).await?, &Ok(arguments))?;
    }
    Ok(())
}

/// An earlier check may have begun one.
async fn wait_out_cool_down(caller: &Caller<'_>) -> Outcome {
    let began = clock::now();
    while caller.call("check_echo", &json!({"text": ""})).await? == Err(Code::AuthFailed) {
        if began.elapsed() > COOLED_WITHIN {
            return Err("the cool-down after AUTH_FAILED does not end".to_owned());
        }
        sleep(Duration::from_millis(500)).await;
    }
    Ok(())
}

async fn echoes(caller: &Caller<'_>) -> Outcome {
    let echo = |number: usize| async move {
        let arguments = json!({ "text": number.to_string() });
        expect(&caller.call("check_echo", &arguments).await?, &Ok(arguments))
    };
    // 16 of a user may wait for a slot.
    stream::iter(0..200).map(echo).buffer_unordered(16).try_collect().await
}

async fn stream(caller: &Caller<'_>) -> Outcome {
    let (arguments, id) = (json!({"count": 50}), RequestId::generate());
    let observed = caller.observe("check_stream", &arguments, id, Duration::from_secs(30)).await?;
    let numbers: Vec<_> = observed.chunks.iter().map(|it| it["number"].as_f64()).collect();
    let expected: Vec<_> = (0..50).map(|number| Some(f64::from(number))).collect();
    if numbers != expected {
        return Err(format!("the chunks are not number 0 to 49 in order, but {numbers:?}"));
    }
    if observed.progress == 0 {
        return Err("there was no progress".to_owned());
    }
    expect(&observed.end.unwrap_or(Err(Code::Unspecified)), &Ok(arguments))
}

async fn cancel(caller: &Caller<'_>) -> Outcome {
    // More than a host usually has slots.
    for _ in 0..40 {
        caller.leave("check_sleep", &json!({"seconds": 60})).await?;
    }
    Ok(())
}

async fn deadline(caller: &Caller<'_>) -> Outcome {
    for _ in 0..20 {
        let (arguments, id) = (json!({"seconds": 60}), RequestId::generate());
        let observed = caller.observe("check_sleep", &arguments, id, Duration::from_millis(200)).await?;
        expect(&observed.end.unwrap_or(Err(Code::Unspecified)), &Err(Code::Timeout))?;
    }
    expect(&caller.call("check_sleep", &json!({"seconds": 0})).await?, &Ok(json!({"slept": true})))
}

async fn fail(caller: &Caller<'_>) -> Outcome {
    // An exception that is no outcome.
    expect(&caller.call("check_fail", &json!({"code": "EXCEPTION"})).await?, &Err(Code::Unknown))?;
    for code in CODES {
        let name = code.as_str_name().trim_start_matches("TOOL_ERROR_CODE_");
        expect(&caller.call("check_fail", &json!({ "code": name })).await?, &Err(code))?;
    }
    Ok(())
}

async fn write(caller: &Caller<'_>) -> Outcome {
    for _ in 0..2 {
        let id = RequestId::generate();
        for _ in 0..3 {
            let observed = caller.observe("check_write", &json!({}), id, Duration::from_secs(30)).await?;
            expect(&observed.end.unwrap_or(Err(Code::Unspecified)), &Ok(json!({"count": 1})))?;
        }
    }
    Ok(())
}

async fn large(caller: &Caller<'_>) -> Outcome {
    let data = caller.call("check_large", &json!({"bytes": 3_000_000})).await?;
    if data.as_ref().ok().and_then(|it| it["text"].as_str()).map(str::len) != Some(3_000_000) {
        return Err("a text of 3,000,000 bytes did not arrive".to_owned());
    }
    let too_large = caller.call("check_large", &json!({"bytes": 3_300_000})).await?;
    expect(&too_large, &Err(Code::ResultTooLarge))
}

async fn crash(caller: &Caller<'_>) -> Outcome {
    let (began, id) = (clock::now(), RequestId::generate());
    let observed = caller.observe("check_crash", &json!({}), id, Duration::from_secs(30)).await?;
    expect(&observed.end.unwrap_or(Err(Code::Unspecified)), &Err(Code::OutcomeUnknown))?;
    if began.elapsed() > UNKNOWN_WITHIN {
        return Err(format!("the outcome was unknown after {:?} only", began.elapsed()));
    }
    let arguments = json!({"text": "back"});
    while caller.call("check_echo", &arguments).await? != Ok(arguments.clone()) {
        if began.elapsed() > BACK_WITHIN {
            return Err("no host took over within a minute".to_owned());
        }
        sleep(Duration::from_millis(500)).await;
    }
    Ok(())
}

fn expect(found: &Result<Value, Code>, expected: &Result<Value, Code>) -> Outcome {
    if found == expected {
        return Ok(());
    }
    let [found, expected] = [found, expected].map(|end| match end {
        Ok(data) => data.to_string().chars().take(200).collect(),
        Err(code) => code.as_str_name().trim_start_matches("TOOL_ERROR_CODE_").to_owned(),
    });
    Err(format!("expected {expected}, but there was {found}"))
}
