//! The span of each look-up.

use super::*;

/// The attributes of every `cache` span, in order.
#[derive(Clone, Default)]
struct Spans(Arc<StdMutex<Vec<String>>>);

struct Attributes<'a>(&'a mut String);

impl Visit for Attributes<'_> {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        if field.name().starts_with("toolwire.cache.") {
            let _ = write!(self.0, "{} = {value:?}; ", field.name());
        }
    }
}

impl<S: Subscriber> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, _: &span::Id, _: Context<'_, S>) {
        if attributes.metadata().name() == "cache" {
            let mut spans = self.0.lock().expect("not poisoned");
            spans.push(String::new());
            attributes.record(&mut Attributes(spans.last_mut().expect("one")));
        }
    }

    fn on_record(&self, _: &span::Id, record: &span::Record<'_>, _: Context<'_, S>) {
        if let Some(last) = self.0.lock().expect("not poisoned").last_mut() {
            record.record(&mut Attributes(last));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn each_look_into_a_tier_is_a_span_that_says_what_it_found() {
    let _turn = Turn::take().await;
    let spans = Spans::default();
    let subscriber = tracing_subscriber::registry().with(spans.clone());
    let _subscriber = crate::support::capture::capture(subscriber);
    let bench = bench("session", "user");
    assert!(!is_hit(&bench, nap("0s")).await && is_hit(&bench, nap("0s")).await);
    let expected = |hit| format!("toolwire.cache.tier = \"session\"; toolwire.cache.hit = {hit}; ");
    assert_eq!(*spans.0.lock().expect("not poisoned"), [expected(false), expected(true)]);
}
