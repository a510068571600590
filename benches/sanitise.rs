//! What it costs to make the largest text from outside safe: 64 KiB of hostile HTML in less than 20 ms, each.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use toolwire::sources::upstream::text::Passage;

const SIZE: usize = 64 * 1024;

/// What is repeated up to the size: each is quadratic in some sanitiser.
const HOSTILE: [(&str, &str); 10] = [
    ("nested divs", "<div>"),
    ("nested lists", "<ul><li>"),
    ("nested tables", "<table><tr><td>"),
    ("nested formats", "<b><i><a href=x>"),
    ("misnested", "<p><b><i></p>"),
    ("open tags", "<a b=\""),
    ("line breaks", "a<br>"),
    ("entities", "&amp;x "),
    ("one line", "word "),
    ("marks", "e\u{301}\u{300}\u{302}"),
];

fn sanitise(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sanitise 64 KiB");
    group.sample_size(20);
    for (name, repeated) in HOSTILE {
        let raw = repeated.repeat(SIZE / repeated.len());
        group.bench_function(name, |bencher| {
            bencher.iter(|| Passage::of_html(black_box(&raw), 1500));
        });
    }
    group.finish();
}

criterion_group!(benches, sanitise);
criterion_main!(benches);
