//! What the cache adds to a call, and what it saves: `get_quotes` through the whole pipeline, as `CallTool` carries it out.

#[path = "../tests/support/mod.rs"]
mod support;

use criterion::{
    BatchSize, BenchmarkGroup, Criterion, criterion_group, criterion_main, measurement::WallTime,
};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use toolwire::{
    contract::{
        Terminal,
        convert::{ResultFormat, outcome},
    },
    engine::pipeline::Call,
};

use support::Bench;

fn quotes() -> Call {
    Bench::call("get_quotes", json!({"symbol": "AAPL,MSFT,VOO"}))
}

fn get_quotes(criterion: &mut Criterion) {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let policy = |ttl: u32| json!({"cache": {"ttl_s": ttl, "tier": "request", "scope": "user"}});
    let benches =
        [("without policy", Bench::new()), ("hit", Bench::with_manifest("get_quotes", &policy(86_400)))];
    let mut group = criterion.benchmark_group("get_quotes");
    for (name, bench) in &benches {
        run(&mut group, &runtime, name, bench);
    }
    // The same path without a tool behind it: what a hit adds to the bare pipeline.
    let logged = Bench::with_tool(&idle());
    run_call(
        &mut group,
        &runtime,
        "no tool",
        &logged,
        || Bench::call("idle", json!({"symbol": "AAPL,MSFT,VOO"})),
        None,
    );
    group.finish();
}

fn idle() -> Value {
    json!({
        "name": "idle",
        "description": "Does nothing.",
        "type": "non_function_tool",
        "category": "read",
        "consequence_level": "low",
        "requires_confirmation": false,
        "parameters": {"symbol": {"type": "string", "description": "A symbol", "required": true}},
        "returns": {"logged": "boolean"}
    })
}

fn run(group: &mut BenchmarkGroup<'_, WallTime>, runtime: &Runtime, name: &str, bench: &Bench) {
    for (format, suffix) in [(ResultFormat::Json, "JSON"), (ResultFormat::Struct, "Struct")] {
        run_call(group, runtime, &format!("{name}, {suffix}"), bench, quotes, Some(format));
    }
}

/// Measures a call, with the rendering of its result if a format is given.
fn run_call(
    group: &mut BenchmarkGroup<'_, WallTime>,
    runtime: &Runtime,
    name: &str,
    bench: &Bench,
    call: impl Fn() -> Call,
    format: Option<ResultFormat>,
) {
    let carry_out = async |call| -> Terminal { bench.pipeline.finish(call).await.expect("not refused") };
    // What is to be cached is then in the cache.
    runtime.block_on(carry_out(Box::new(call())));
    group.bench_function(name, |bencher| {
        bencher.iter_batched(
            &call,
            |call| {
                let terminal = runtime.block_on(carry_out(Box::new(call)));
                format.map(|format| outcome(terminal, format))
            },
            BatchSize::SmallInput,
        );
    });
}

criterion_group!(benches, get_quotes);
criterion_main!(benches);
