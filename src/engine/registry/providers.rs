//! Tools of providers: made of what a provider offers and of its executors, and joined to those of files.
//!
//! A change of one provider rebuilds its own tools only. A name has one owner: a file first, then the
//! provider that had it first. A file with `upstream` replaces an offer, but for its conditions and its execution. Not
//! here: which names a provider may own (the server's configuration), and executing them.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
    sync::Arc,
};

use serde_json::{Map, Value};

use super::{
    assemble::{MakeExecutor, RegisteredTool, assemble_provider_tool},
    manifest::Manifest,
    parts::Status,
    problem::Report,
    requirements::Requirements,
};
use toolwire_base::files::Problem;
use toolwire_contract::{ToolName, proto::v1};

/// A definition that a provider offers, encoded: an answer that lists one must stay below what every client accepts.
const MAX_DEFINITION: usize = 256 * 1024;

/// A tool that a provider offers.
pub struct ProviderTool {
    pub name: ToolName,
    /// The keys of a manifest.
    pub manifest: Map<String, Value>,
    /// JSON Schemas of its arguments, but for the bound ones, and of its results.
    pub input: Value,
    pub output: Value,
    /// Why it cannot be called, if so.
    pub disabled: Option<String>,
    /// Makes an executor for each definition that is served.
    pub make: Arc<MakeExecutor>,
}

/// The result of an offer: the tool, or why it is not served.
pub type Provision = Result<Arc<RegisteredTool>, Vec<Problem>>;

/// An offer that nothing is wrong with by itself.
pub(super) struct Offer {
    /// The tool by itself.
    tool: Arc<RegisteredTool>,
    /// Its own conditions, without those of the configuration.
    conditions: Map<String, Value>,
    make: Arc<MakeExecutor>,
}

/// The tools of all providers.
#[derive(Debug, Default)]
pub(super) struct Providers {
    offers: BTreeMap<String, BTreeMap<ToolName, Offer>>,
    executed: BTreeMap<ToolName, Executed>,
}

/// A tool of a file that a provider executes, kept until either changes.
#[derive(Debug)]
struct Executed {
    of_file: Arc<RegisteredTool>,
    offered: Arc<RegisteredTool>,
    tool: Provision,
}

impl fmt::Debug for ProviderTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ProviderTool").field(&self.name).finish()
    }
}

impl fmt::Debug for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Offer").field(&self.tool).finish()
    }
}

/// Makes the tools that a provider offers, without regard to the names of other tools.
pub(super) fn make(
    provider: &str,
    tools: Vec<ProviderTool>,
    requirements: Requirements<'_>,
) -> Vec<Result<Offer, Vec<Problem>>> {
    tools.into_iter().map(|tool| assemble_offer(provider, tool, requirements)).collect()
}

fn assemble_offer(
    provider: &str,
    ProviderTool { name, manifest, input, output, disabled, make }: ProviderTool,
    requirements: Requirements<'_>,
) -> Result<Offer, Vec<Problem>> {
    let file = format!("{provider}/{name}.json");
    let mut report = Report::new(&file);
    let manifest = Manifest::read(&file, &Value::Object(manifest).to_string(), &mut report);
    let offer = manifest.and_then(|mut manifest| {
        requirements.raise(&mut manifest, Some(provider));
        let conditions = manifest.approve_unless.clone().unwrap_or_default();
        let configured = requirements.conditions(&name, Some(provider));
        let declared = (manifest, &*configured);
        let tool = assemble_provider_tool(provider, declared, [&input, &output], &*make, &mut report)?;
        refuse_large(&tool, &mut report);
        let tool = match disabled {
            Some(reason) => tool.with_status(Status::Disabled(reason)),
            None => tool,
        };
        Some(Offer { tool: Arc::new(tool), conditions, make })
    });
    let problems = report.into_problems();
    offer.filter(|_| problems.is_empty()).ok_or(problems)
}

fn refuse_large(tool: &RegisteredTool, report: &mut Report) {
    let length = tool.definition.encoded(v1::ToolView::Full).len();
    if length > MAX_DEFINITION {
        let text =
            format!("a definition has at most {MAX_DEFINITION} bytes, and this one {length}; shorten it");
        report.add("", "too-large", text);
    }
}

impl Providers {
    /// Takes over the tools of a provider, in place of those that it had; what others own is refused. If all that it
    /// offers is refused, it keeps what it had.
    pub(super) fn replace(
        &mut self,
        provider: &str,
        made: Vec<Result<Offer, Vec<Problem>>>,
        of_files: &[Arc<RegisteredTool>],
    ) -> Vec<Provision> {
        let mut owners: BTreeMap<ToolName, String> =
            of_files.iter().map(|tool| (tool.definition.name.clone(), "a file".to_owned())).collect();
        for (owner, tools) in self.offers.iter().filter(|(owner, _)| *owner != provider) {
            owners.extend(tools.keys().map(|name| (name.clone(), format!("the provider `{owner}`"))));
        }
        let declared = of_files.iter().filter(|tool| tool.is_declared_for(provider));
        let mut declared: BTreeMap<_, _> = declared.map(|tool| (&tool.definition.name, tool)).collect();
        let (mut own, mut executed) = (BTreeMap::new(), BTreeMap::new());
        let made = made.into_iter().map(|made| {
            let offer = made?;
            let name = offer.tool.definition.name.clone();
            let of_file = declared.remove(&name);
            if let (Some(owner), None) = (owners.get(&name), of_file) {
                return Err(vec![name_conflict(&offer.tool, owner)]);
            }
            owners.insert(name.clone(), "another offer of the same name".to_owned());
            let tool = match of_file {
                Some(of_file) => {
                    let made = Executed::new(of_file, &offer);
                    let tool = made.tool.clone();
                    executed.insert(name.clone(), made);
                    tool
                }
                None => Ok(Arc::clone(&offer.tool)),
            };
            own.insert(name, offer);
            tool
        });
        let made: Vec<_> = made.collect();
        if made.is_empty() || made.iter().any(Result::is_ok) {
            self.remove(provider);
            self.executed.extend(executed);
            self.offers.insert(provider.to_owned(), own);
        }
        made
    }

    pub(super) fn has_offered(&self, provider: &str) -> bool {
        self.offers.contains_key(provider)
    }

    /// Whether the provider had any.
    pub(super) fn remove(&mut self, provider: &str) -> bool {
        self.executed.retain(|_, it| !it.of_file.is_declared_for(provider));
        self.offers.remove(provider).is_some_and(|tools| !tools.is_empty())
    }

    /// The tools of files, each that a provider executes with the execution that it offers, and those of providers
    /// whose names no file has taken.
    pub(super) fn join(&mut self, of_files: &[Arc<RegisteredTool>]) -> Vec<Arc<RegisteredTool>> {
        let mut before = std::mem::take(&mut self.executed);
        let mut tools = Vec::with_capacity(of_files.len());
        for tool in of_files {
            let (name, upstream) = (&tool.definition.name, tool.definition.upstream.as_ref());
            let offered = upstream.and_then(|upstream| self.offers.get(&upstream.provider)?.get(name));
            tools.push(offered.map_or_else(
                || Arc::clone(tool),
                |offer| {
                    let known = before.remove(name).filter(|it| it.is_of(tool, offer));
                    let made = known.unwrap_or_else(|| Executed::new(tool, offer));
                    let served = made.served();
                    self.executed.insert(name.clone(), made);
                    served
                },
            ));
        }
        let taken: HashSet<&str> = of_files.iter().map(|tool| tool.definition.name.as_str()).collect();
        let offered = self.offers.values().flatten().filter(|(name, _)| !taken.contains(name.as_str()));
        tools.extend(offered.map(|(_, offer)| Arc::clone(&offer.tool)));
        tools
    }

    pub(super) fn is_empty(&self) -> bool {
        self.offers.values().all(BTreeMap::is_empty)
    }
}

impl Executed {
    fn new(of_file: &Arc<RegisteredTool>, Offer { tool: offered, conditions, make }: &Offer) -> Self {
        let mut report = Report::new(&offered.definition.file);
        let output = &offered.definition.output_schema;
        let tool = of_file.with_execution(conditions, output, &**make, &mut report);
        let problems = report.into_problems();
        let tool = tool.filter(|_| problems.is_empty()).ok_or(problems);
        let tool = tool.map(|tool| Arc::new(disable_as(&offered.definition.status, tool)));
        Self { of_file: Arc::clone(of_file), offered: Arc::clone(offered), tool }
    }

    fn is_of(&self, of_file: &Arc<RegisteredTool>, offer: &Offer) -> bool {
        Arc::ptr_eq(&self.of_file, of_file) && Arc::ptr_eq(&self.offered, &offer.tool)
    }

    /// The tool, or that of the file with the reason why its offer does not fit it.
    fn served(&self) -> Arc<RegisteredTool> {
        let disabled = |problems: &Vec<Problem>| {
            let reasons: Vec<_> = problems.iter().map(ToString::to_string).collect();
            let reason = format!("what is offered does not fit its file: {}", reasons.join("; "));
            Arc::new(self.of_file.with_status(Status::Disabled(reason)))
        };
        self.tool.as_ref().map_or_else(disabled, Arc::clone)
    }
}

/// An offer that cannot be called disables the tool of the file that it executes.
fn disable_as(offered: &Status, tool: RegisteredTool) -> RegisteredTool {
    match offered {
        Status::Disabled(_) => tool.with_status(offered.clone()),
        Status::Ready | Status::Degraded(_) => tool,
    }
}

fn name_conflict(tool: &RegisteredTool, owner: &str) -> Problem {
    let text =
        format!("Tool '{}' is already registered (by {owner}); rename one of the two", tool.definition.name);
    Problem { pointer: "/name".to_owned(), ..Problem::new(&tool.definition.file, "owned-by-another", text) }
}

#[cfg(test)]
mod tests;
