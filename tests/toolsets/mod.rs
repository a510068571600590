//! Toolsets: a request that names one, or whose token is bound to it, lists and calls its tools only, on every face; it
//! gives no right.

mod bound_tokens;
mod command_line;
mod grpc;
mod http;
mod mcp;

use toolwire::config::{Config, Flags, Toolsets, testing};

use crate::http::house::House;

/// `market` has a tool by its name, which calls others, and one by its tag.
pub(super) const FILE: &str = "\
[toolsets.market]
tools = ['get_symbol_perf*']
tags = ['market']
title = 'The market'
instructions = 'Name the currency.'
[toolsets.facts]
tools = ['get_facts']
";

/// The tools of `market`.
pub(crate) const MARKET: [&str; 2] = ["get_quotes", "get_symbol_performance"];

pub(crate) fn configure(config: &mut Config) {
    config.toolsets = toolsets_of(FILE);
}

/// Reads the toolsets of a file.
fn toolsets_of(file: &str) -> Toolsets {
    testing::load_text(file, &[], Flags::default(), &[]).unwrap().config.toolsets
}

pub(super) fn house() -> House {
    House::with(configure)
}

#[test]
fn what_a_toolset_names_and_no_tool_is_warned_of() {
    let file = "[toolsets.shop]\ntools = ['get_quote', 'get_*']\ntags = ['market', 'markets']\n";
    let state = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.toolsets = toolsets_of(file);
    config.state.dir = Some(state.path().to_owned());
    let app = toolwire::server::app::App::build(&config, &toolwire::domains::bundled()).unwrap();
    let warnings: Vec<_> = app.unmatched_patterns(&config).iter().map(ToString::to_string).collect();
    let [tool, tag] = &*warnings else { panic!("{warnings:?}") };
    assert!(tool.starts_with("toolsets.shop: tools: \"get_quote\""), "{tool}");
    assert!(tool.contains("Did you mean get_quotes"), "{tool}");
    assert_eq!(tag, "toolsets.shop: tags: no tool that is offered has the tag \"markets\"");
}
