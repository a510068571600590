//! `toolwire lint`: the problems that start-up refuses, and weaknesses that make a tool hard to choose or to call.
//!
//! A model sees only a tool's description and schema. Each finding says how to fix it. Not here: the checks of start-up
//! (`load`).

mod classification;
mod description;
mod guidance;
mod parameters;
mod planner_hints;

use std::sync::Arc;

use super::{
    assemble::RegisteredTool,
    cooperative::Pace,
    definition::Definition,
    load::{FileCache, Loaded, load, unmatched_conditions},
    problem::Report,
    registry_input::RegistryInput,
};
use toolwire_base::files::Problem;

/// All problems that start-up would refuse, then the weaknesses of the tools that could be assembled.
pub fn lint(input: &RegistryInput) -> Vec<Problem> {
    let files = input.manifests.read_all().files;
    let Loaded { tools, mut problems } = load(files, input, &mut FileCache::default(), &Pace::alone());
    if problems.is_empty() {
        problems.extend(unmatched_conditions(&input.approve_unless, &tools));
    }
    problems.extend(weaknesses(&tools));
    problems
}

/// The weaknesses of tools that start-up accepts.
pub fn weaknesses(tools: &[Arc<RegisteredTool>]) -> Vec<Problem> {
    tools.iter().flat_map(|tool| of_tool(tool, tools)).collect()
}

fn of_tool(tool: &RegisteredTool, tools: &[Arc<RegisteredTool>]) -> Vec<Problem> {
    let definition = &tool.definition;
    let mut report = Report::new(&definition.file);
    let others: Vec<_> = others(definition, tools).collect();
    description::check(definition, &siblings(definition, &others), &others, &mut report);
    parameters::check(definition, &mut report);
    classification::check(definition, &mut report);
    guidance::check(definition, &others, &mut report);
    planner_hints::check(tool, &mut report);
    report.into_problems()
}

fn others<'a>(
    definition: &Definition,
    tools: &'a [Arc<RegisteredTool>],
) -> impl Iterator<Item = &'a Definition> {
    tools.iter().map(|tool| &tool.definition).filter(|other| other.name != definition.name)
}

/// The names of the other tools that share a tag.
fn siblings<'a>(definition: &Definition, others: &[&'a Definition]) -> Vec<&'a str> {
    let related = others.iter().filter(|other| other.tags.iter().any(|tag| definition.tags.contains(tag)));
    related.map(|other| other.name.as_str()).collect()
}
