//! The five steps of a discovery, one after the other.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{
    browse,
    context::{Context, at},
    evaluate,
    request::Request,
    result, select,
    stocks::Stocks,
};
use toolwire_agent_api::job::{Finished, Run, Workflow};

const KIND: &str = "discovery";

#[derive(Debug)]
pub(super) struct Discovery {
    pub(super) stocks: Arc<Stocks>,
    pub(super) request: Request,
}

impl Workflow for Discovery {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn run<'a>(&'a self, run: &'a dyn Run) -> BoxFuture<'a, Finished> {
        Box::pin(self.steps(run))
    }
}

impl Discovery {
    async fn steps(&self, run: &dyn Run) -> Finished {
        let mut context = Context::new(run);
        context.report(at::START, "browse", "Starting discovery cycle...", "").await;
        let browsed = browse::browse(&mut context, &self.request).await;
        let candidates = select::pick(&self.stocks, &browsed, self.request.max_candidates).await;
        context.report(at::DISCOVERED, "discover", &select::words(&candidates), "").await;
        let mut evaluated = evaluate::drill_down(&mut context, candidates).await;
        evaluate::filter(&mut context, &mut evaluated, &self.request.profile).await;
        context.report(at::FILTERED, "synthesize", "Writing suggestions...", "").await;
        result::finish(context, &browsed, evaluated).await
    }
}
