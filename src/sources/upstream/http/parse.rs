//! Parses answers: the one place where that is done, large ones on another thread.
//!
//! Not here: what an answer means, which each connector knows.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Answer, Failure};
use crate::upstream::json::{self, Faults};
use toolwire_base::offload;

/// What a connector reads in an answer, and what of its JSON was lost. An answer that makes its parser panic cannot be
/// read: it is treated as the answer's fault, and fails this call only. The panic itself has its line in the log.
pub(super) async fn read<T: Send + 'static>(
    answer: Answer,
    parse: impl FnOnce(&Answer) -> Result<T, Failure> + Send + 'static,
) -> (Result<T, Failure>, Faults) {
    let bytes = answer.body.len();
    let parse = move || catch_unwind(AssertUnwindSafe(|| json::collect(|| parse(&answer))));
    let panicked = |_| (Err(Failure::malformed("an answer on which its parser panicked")), Faults::default());
    offload::if_large(bytes, parse).await.unwrap_or_else(panicked)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::{super::FailureKind, *};
    use crate::upstream::http::testing;

    fn answer(bytes: usize) -> Answer {
        Answer { body: vec![b' '; bytes].into(), ..testing::answer() }
    }

    #[tokio::test]
    async fn a_large_answer_is_read_beside_the_threads_that_carry_calls() {
        let thread = async |bytes| read(answer(bytes), |_| Ok(thread::current().id())).await.0.unwrap();
        let here = thread::current().id();
        assert_eq!(thread(offload::SMALL).await, here);
        assert_ne!(thread(offload::SMALL + 1).await, here);
    }

    #[tokio::test]
    async fn a_parser_that_panics_is_an_answer_that_cannot_be_read() {
        for bytes in [1, offload::SMALL + 1] {
            let read = read(answer(bytes), |answer| -> Result<(), _> { panic!("{answer:?}") });
            assert_eq!(read.await.0.unwrap_err().kind, FailureKind::Malformed, "{bytes}");
        }
    }
}
