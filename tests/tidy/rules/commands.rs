//! Commands of a shell in texts that calls answer with. Most callers are programs, MCP clients and pages, which have no
//! shell: such a text says what to do in terms of the API, and the command line adds its commands itself.

use crate::{
    findings::Finding,
    tree::{File, Tree},
};

/// Folders whose texts calls answer with.
const OF_CALLS: &[&str] = &[
    "src/agent/",
    "src/contract/",
    "src/domains/",
    "src/engine/",
    "src/hosts/",
    "src/mcp/",
    "src/planner/",
    "src/providers/",
    "src/server/faces/",
    "src/server/service/",
    "src/sources/",
    "src/tool/",
    "src/transport/",
];

/// Texts that only the command line, or the page that it writes, has.
const OF_COMMANDS: &[&str] = &["/commands", "src/engine/registry/docs"];

/// Where a text names a command. Comments may.
pub(crate) fn in_texts(tree: &Tree) -> Vec<Finding> {
    let is_of_calls = |file: &&File| {
        OF_CALLS.iter().any(|folder| file.path.starts_with(folder))
            && !OF_COMMANDS.iter().any(|part| file.path.contains(part))
    };
    tree.sources().filter(is_of_calls).filter_map(finding).collect()
}

fn finding(file: &File) -> Option<Finding> {
    let lines = file.text.lines().enumerate();
    let lines = lines.filter(|(_, line)| line.contains("`toolwire ") && !line.trim_start().starts_with("//"));
    let places = lines.map(|(index, _)| format!("line {}", index + 1)).collect::<Vec<_>>();
    let what = "names a command: say it in terms of the API, and let the command line add its own advice";
    (!places.is_empty()).then(|| Finding::new(&file.path, &format!("{} {what}", places.join(", "))))
}
