//! How long the limiter takes to decide: below a microsecond.

use std::{
    hint::black_box,
    task::{Context, Poll, Waker},
    time::Duration,
};

use criterion::{Criterion, criterion_group, criterion_main};
use toolwire::{
    base::clock,
    sources::upstream::limiter::{Budget, Budgets, Limiter, MemoryLimiter},
    tool::context::UserId,
};

/// Polls once: what is decided at once needs no more.
fn at_once<F: Future + Unpin>(mut future: F) -> F::Output {
    match std::pin::Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

fn limiter(max_requests: u32, window: Duration) -> MemoryLimiter {
    let budget = Budget { max_requests, window, min_delay: Duration::ZERO };
    MemoryLimiter::new([("yahoo", Budgets { per_user: budget, ceiling: budget })])
}

fn decisions(criterion: &mut Criterion) {
    let user: UserId = "riley".parse().expect("visible ASCII");
    let deadline = clock::now() + Duration::from_hours(1);

    // Windows of a microsecond keep the timelines short, as they are where nobody competes.
    let free = limiter(1_000, Duration::from_micros(1));
    criterion.bench_function("acquire, uncontended", |bencher| {
        bencher.iter(|| at_once(free.acquire(black_box("yahoo"), &user, deadline, &|_| {})));
    });

    let full = limiter(60, Duration::from_hours(10));
    for _ in 0..60 {
        at_once(full.acquire("yahoo", &user, deadline, &|_| {})).expect("sixty fit");
    }
    criterion.bench_function("wait_time, window full", |bencher| {
        bencher.iter(|| at_once(full.wait_time(black_box("yahoo"), &user)));
    });
    criterion.bench_function("acquire refused, window full", |bencher| {
        bencher.iter(|| at_once(full.acquire(black_box("yahoo"), &user, deadline, &|_| {})));
    });
}

criterion_group!(benches, decisions);
criterion_main!(benches);
