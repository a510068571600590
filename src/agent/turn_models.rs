//! The planner and the answerer of one turn: without a model, or a model within the turn's budget.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use super::{
    Mode, Parts, TurnRequest,
    answer::{Answerer, model_answerer::ModelAnswerer},
    meter::Meter,
    metered_model::MeteredModel,
    parts::ModelParts,
    planners::{json_planner::JsonPlanner, native_planner::NativePlanner},
};
use toolwire_planner::Planner;
use toolwire_sources::{models::Usage, upstream::source_status::SourceBudget};

/// The planner and the answerer.
pub(super) struct TurnModels {
    pub(super) planner: Arc<dyn Planner>,
    pub(super) answerer: Arc<dyn Answerer>,
    /// Whether the answerer may answer differently if it is asked again.
    pub(super) model_answers: bool,
    /// Whether the turn goes on without the model if it fails. Cleared when it does.
    pub(super) falls_back: bool,
    pub(super) meter: Arc<Meter>,
}

impl TurnModels {
    pub(super) fn of(parts: &Parts, request: &TurnRequest, budgets: &[SourceBudget]) -> Self {
        let [input_tokens, output_tokens] = request.checkpoint.as_ref().map_or([0, 0], |it| it.tokens);
        let most = request.checkpoint.as_ref().map_or(request.budget.max_tokens, |it| it.bounds[2]);
        let meter = Arc::new(Meter::new(most, Usage { input_tokens, output_tokens }));
        let without = Self {
            planner: Arc::clone(&parts.planner),
            answerer: Arc::clone(&parts.answerer),
            model_answers: parts.mode != Mode::Embedded,
            falls_back: false,
            meter,
        };
        match &parts.model_parts {
            Some(model) => without.with_model(parts, model, request, budgets),
            None => without,
        }
    }

    fn with_model(
        self,
        parts: &Parts,
        model: &ModelParts,
        request: &TurnRequest,
        budgets: &[SourceBudget],
    ) -> Self {
        let metered =
            MeteredModel::new(Arc::clone(&model.model), request.context.clone(), Arc::clone(&self.meter));
        let (prompts, budgets) = (Arc::clone(&parts.prompts), Arc::from(budgets));
        let answerer: Arc<dyn Answerer> = if model.answers {
            Arc::new(ModelAnswerer { model: metered.clone(), prompts: Arc::clone(&prompts) })
        } else {
            self.answerer
        };
        let planner: Arc<dyn Planner> = match parts.mode {
            Mode::Embedded => self.planner,
            Mode::Plan => Arc::new(JsonPlanner { model: metered, prompts, budgets }),
            Mode::Native => {
                Arc::new(NativePlanner { model: metered, prompts, budgets, declared: OnceLock::new() })
            }
        };
        Self { planner, answerer, model_answers: model.answers, falls_back: model.fallback, ..self }
    }
}

impl fmt::Debug for TurnModels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnModels").field("planner", &self.planner).finish_non_exhaustive()
    }
}
