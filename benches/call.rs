//! What each stage of a call costs: parsing its arguments, checking them, the tool alone, rendering, and the whole call
//! without and with its line. `cargo bench --bench call 2>/dev/null`: the lines go to standard error.

#[path = "../tests/support/mod.rs"]
mod support;

use std::{hint::black_box, sync::Arc, time::Duration};

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use toolwire::{
    contract::{
        Payload, Terminal, arguments,
        convert::{ResultFormat, outcome},
    },
    engine::{pipeline::Call, registry::RegisteredTool},
    telemetry,
    tool::context::ToolContext,
};

use support::Bench;

const TOOL: &str = "get_quotes";
const ARGUMENTS: &str = r#"{"symbol":"AAPL,VTI,BND,MSFT"}"#;

fn stages(criterion: &mut Criterion) {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let bench = Bench::new();
    let tool = Arc::clone(bench.registry.snapshot().get(TOOL).expect("bundled"));
    let parsed = || arguments::from_text(ARGUMENTS).expect("an object");
    let call = || Bench::call(TOOL, json!({"symbol": "AAPL,VTI,BND,MSFT"}));
    let mut group = criterion.benchmark_group("stage");
    group.bench_function("parse", |bencher| bencher.iter(|| black_box(parsed())));
    group.bench_function("validate", |bencher| {
        bencher.iter_batched(parsed, |raw| tool.input.check(raw), BatchSize::SmallInput);
    });
    let context = ToolContext { services: bench.services.clone(), ..call().context };
    let checked = tool.input.check(parsed()).expect("valid");
    group.bench_function("execute", |bencher| {
        let arguments = || checked.clone();
        bencher.iter_batched(
            arguments,
            |arguments| runtime.block_on(executed(&tool, arguments, &context)),
            BatchSize::SmallInput,
        );
    });
    for (format, name) in [(ResultFormat::Json, "render, JSON"), (ResultFormat::Struct, "render, Struct")] {
        let end = || finished(&runtime, &bench, call());
        group.bench_function(name, |bencher| {
            bencher.iter_batched(end, |end| outcome(end, format), BatchSize::SmallInput);
        });
    }
    group.finish();
}

/// The first is before there is a log: telemetry is set up once in a process.
fn whole(criterion: &mut Criterion) {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let bench = Bench::new();
    let mut group = criterion.benchmark_group("call");
    let mut measure = |name: &str| {
        group.bench_function(name, |bencher| {
            let call = || Bench::call(TOOL, json!({"symbol": "AAPL,VTI,BND,MSFT"}));
            bencher.iter_batched(call, |call| finished(&runtime, &bench, call), BatchSize::SmallInput);
        });
    };
    measure("without its line");
    let settings = telemetry::Settings {
        format: telemetry::Format::Json,
        filter: "info".to_owned(),
        traces: None,
        sampling: telemetry::sampling::Sampling::default(),
        batch: telemetry::Batch::default(),
        metrics: None,
        audit: None,
        interval: Duration::from_mins(1),
        prometheus: false,
        service_name: "bench".to_owned(),
        egress: toolwire::outgoing::Egress::default(),
        attributes: Vec::new(),
    };
    let _guard = telemetry::init(&settings).expect("nothing else sets it up");
    measure("with its line");
    group.finish();
}

fn finished(runtime: &Runtime, bench: &Bench, call: Call) -> Terminal {
    runtime.block_on(bench.pipeline.finish(Box::new(call))).expect("not refused")
}

async fn executed(
    tool: &RegisteredTool,
    arguments: toolwire::contract::arguments::Arguments,
    context: &ToolContext,
) -> Payload {
    let executor = tool.executor.as_ref().expect("a function");
    executor.execute(arguments, context).await.expect("bundled data").data
}

criterion_group!(benches, stages, whole);
criterion_main!(benches);
