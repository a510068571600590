//! What an export of 1,000 tools costs: less than 20 ms in any format.

#![allow(clippy::unwrap_used, reason = "a program that prints figures")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use strum::VariantArray as _;
use toolwire::{
    config::Config,
    domains,
    engine::exports::{Format, Options, export},
    server::app::App,
};

const TOOLS: usize = 1_000;

fn exports(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let _inside = runtime.enter();
    let state = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.state.dir = Some(state.path().to_owned());
    let app = App::build(&config, &domains::bundled()).unwrap();
    let snapshot = app.registry.snapshot();
    let tools: Vec<_> = snapshot.tools().map(|tool| &tool.definition).cycle().take(TOOLS).collect();
    let mut group = criterion.benchmark_group("export 1,000 tools");
    group.sample_size(20);
    for &format in Format::VARIANTS {
        for strict in [false, true] {
            let options = Options { strict, ..Options::default() };
            let name =
                if strict { format!("{}, strict", format.into_str()) } else { format.into_str().to_owned() };
            group.bench_function(name, |bencher| {
                bencher.iter(|| export(format, black_box(&tools), &options));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, exports);
criterion_main!(benches);
