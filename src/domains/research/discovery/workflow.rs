//! The five steps of a discovery, one after the other (spec 004 §1.1).

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{
    browse,
    desk::{Desk, at},
    drill, pick, result,
    stocks::Stocks,
    wish::Wish,
};
use toolwire_agent::job::{Finished, Run, Workflow};

const KIND: &str = "discovery";

#[derive(Debug)]
pub(super) struct Discovery {
    pub(super) stocks: Arc<Stocks>,
    pub(super) wish: Wish,
}

impl Workflow for Discovery {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn run<'a>(&'a self, run: &'a Run) -> BoxFuture<'a, Finished> {
        Box::pin(self.steps(run))
    }
}

impl Discovery {
    async fn steps(&self, run: &Run) -> Finished {
        let mut desk = Desk::new(run);
        desk.say(at::START, "browse", "Starting discovery cycle...", "").await;
        let browsed = browse::browse(&mut desk, &self.wish).await;
        let candidates = pick::pick(&self.stocks, &browsed, self.wish.max_candidates).await;
        desk.say(at::DISCOVERED, "discover", &pick::words(&candidates), "").await;
        let mut looked = drill::down(&mut desk, candidates).await;
        drill::filter(&mut desk, &mut looked, self.wish.profile.as_deref()).await;
        desk.say(at::FILTERED, "synthesize", "Writing suggestions...", "").await;
        result::finished(desk, &browsed, looked).await
    }
}
