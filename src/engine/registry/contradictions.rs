//! What contradicts itself within a manifest. Not here: what contradicts its messages and its code (`assemble`).

use super::{
    behaviour::Execution,
    manifest::Manifest,
    problem::{Report, join},
    words::{CacheScope, Category},
};

pub(super) fn refuse_contradictions(manifest: &Manifest, report: &mut Report) {
    if manifest.cache.is_some() && manifest.category != Category::Read {
        let text = format!("only a `read` may be cached, and this is a `{}`", manifest.category.into_str());
        report.add("/cache", "cache-not-read", text);
    }
    if manifest.cache.is_some() && !manifest.kind.behaviour().executes {
        let text =
            format!("a {} executes nothing that could be cached; remove `cache`", manifest.kind.into_str());
        report.add("/cache", "cache-not-executed", text);
    }
    refuse_role(manifest, report);
    refuse_misused_bindings(manifest, report);
    refuse_misused_upstream(manifest, report);
}

/// Reports tools of a provider that have no code or have messages: a provider's values are JSON.
fn refuse_misused_upstream(manifest: &Manifest, report: &mut Report) {
    let Some(upstream) = &manifest.upstream else { return };
    if manifest.source.as_ref().is_some_and(|source| source.name != upstream.provider) {
        let text = "the provider in `upstream` is the source of what it executes; remove `source`".to_owned();
        report.add("/source", "upstream-and-source", text);
    }
    if !manifest.kind.behaviour().executes {
        let text = format!(
            "a {} executes nothing that a provider could; remove `upstream`",
            manifest.kind.into_str()
        );
        report.add("/upstream", "upstream-not-executed", text);
    }
    for (key, message) in [("input", &manifest.input_message), ("output", &manifest.output_message)] {
        if message.is_some() {
            let text =
                format!("a provider has JSON in place of messages; remove `{key}` and declare the fields");
            report.add(join("", key), "upstream-message", text);
        }
    }
}

/// Reports bindings that contradict the cache or the type. A shared result must not depend on one caller, and no cached
/// result can depend on one call. A tool without code has no execution that fills in identifiers.
fn refuse_misused_bindings(manifest: &Manifest, report: &mut Report) {
    let scope = manifest.cache.map(|cache| cache.scope);
    for declared in &manifest.parameters {
        let Some(binding) = declared.hiding.bind else { continue };
        let (word, pointer) = (binding.into_str(), join(&declared.pointer, "bind"));
        if !binding.is_of_execution() && scope == Some(CacheScope::Shared) {
            let text = format!(
                "a cached result of scope `shared` answers every user, and this one is of a single {word}; make the \
                 scope `user`, or remove the binding"
            );
            report.add(pointer, "bound-and-shared", text);
        } else if binding.is_of_execution() && scope.is_some() {
            let text =
                format!("each call has its own {word}, so that no cached result is its; remove `cache`");
            report.add(pointer, "bound-and-cached", text);
        } else if binding.is_of_execution() && !manifest.kind.behaviour().executes {
            let kind = manifest.kind.into_str();
            let text =
                format!("a {kind} executes nothing, so that nothing fills in {word}; remove the binding");
            report.add(pointer, "bound-not-executed", text);
        }
    }
}

/// Delegation needs a role, and no other type may have one.
fn refuse_role(manifest: &Manifest, report: &mut Report) {
    let kind = manifest.kind.into_str();
    match (manifest.kind.behaviour().by, &manifest.agent) {
        (Execution::Delegate, None) => {
            let text = format!("an {kind} needs `agent`, the role that it delegates to, such as `analyst`");
            report.add("/agent", "missing-key", text);
        }
        (Execution::Delegate, Some(_)) | (_, None) => {}
        (_, Some(_)) => {
            let text = format!("a {kind} delegates to nobody; remove `agent`");
            report.add("/agent", "role-not-delegated", text);
        }
    }
}
