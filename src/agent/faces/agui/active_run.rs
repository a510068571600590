//! A run in progress: its turn, begun or resumed, and the events that are sent of it.

use std::collections::VecDeque;

use http::{Extensions, request::Parts};

use super::{
    event::Event,
    input::Input,
    resume::{self, Interrupted},
    run::{Names, Run},
};
use crate::{
    faces::spec_routes::turn::{self, TurnEvents},
    service::turns::{Say, Turns},
};
use toolwire_contract::Refusal;
use toolwire_server::faces::http::route::Http;

/// A run at work. Dropping it cancels its turn.
#[derive(Debug)]
pub(super) struct ActiveRun {
    turn: TurnEvents,
    /// The turn's events so far as those of a run.
    pub(super) run: Run,
    pending: VecDeque<Event>,
    failure: Option<Refusal>,
}

impl ActiveRun {
    /// Begins or resumes the turn of a run.
    pub(super) async fn begin(http: &Http, parts: &Parts, input: Input) -> Result<Self, Refusal> {
        let Input { thread, run_id, said, messages, resume, account } = input;
        let mut names = Names { thread_id: thread.to_string(), run_id, messages, ..Names::default() };
        let context = turn::context(&parts.extensions, Some(thread.clone()));
        // The run's identifier is the turn's: a repeat joins the turn that it began.
        let mut new = turn::new(context, said, account, names.run_id.parse().ok());
        // Decided before the turn is resumed: a resumed turn looks for the decisions once.
        if !resume.is_empty() {
            let extensions: &Extensions = &parts.extensions;
            let Interrupted { turn_id, known } =
                resume::decide_all(http, extensions, &thread, resume).await?;
            names.known = known;
            new.say = Say::Resume(turn_id);
        }
        let turn = turn::begin(&http.face.part::<Turns>(), new).await?;
        Ok(Self { turn, run: Run::new(names), pending: VecDeque::new(), failure: None })
    }

    /// The next event; `None` after the last.
    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            self.pending.extend(self.run.take());
            if let Some(event) = self.pending.pop_front() {
                return Some(event);
            }
            if self.run.is_over() {
                return None;
            }
            match self.turn.next().await.unwrap_or(Err(Refusal::CallerGone)) {
                Ok(event) => self.run.apply(event),
                Err(refusal) => {
                    self.run.fail(&refusal);
                    self.failure = Some(refusal);
                }
            }
        }
    }

    pub(super) fn failure(&self) -> Option<&Refusal> {
        self.failure.as_ref()
    }
}
