//! The rules on small trees, each seen failing.

use crate::{
    findings::Finding,
    reading::Crate,
    rules::{
        circles, commands, engines, files, lengths, links, origins, outside, plain, schemas, walls, words,
    },
    tree::Tree,
};

fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
    whats(circles::in_circles(&Crate::read(&Tree::of(files), "src/state/")))
}

fn whats(findings: Vec<Finding>) -> Vec<String> {
    findings.into_iter().map(|finding| finding.what).collect()
}

#[test]
fn a_circle_between_siblings() {
    let files = [
        ("src/state/lib.rs", "mod first; mod second;"),
        ("src/state/first.rs", "use super::second::Second; pub struct First(Second);"),
        ("src/state/second.rs", "use crate::first; pub struct Second(Box<first::First>);"),
    ];
    assert_eq!(circles_of(&files), ["src/state/first.rs", "src/state/second.rs"]);
}

#[test]
fn a_circle_through_what_is_below_two_siblings() {
    let files = [
        ("src/state/lib.rs", "mod first; mod second;"),
        ("src/state/first.rs", "mod deep; pub struct First;"),
        ("src/state/first/deep.rs", "use crate::second::Second; pub struct Deep(Second);"),
        ("src/state/second.rs", "mod deep; pub struct Second;"),
        ("src/state/second/deep.rs", "use crate::first::First; pub struct Deep(First);"),
    ];
    assert_eq!(circles_of(&files), ["src/state/first.rs", "src/state/second.rs"]);
}

#[test]
fn a_circle_through_a_glob_a_macro_or_an_attribute() {
    let second = "use super::first::*; fn f() -> First { First }";
    let macros = "use super::second; pub struct First; fn f() { vec![second::f()]; }";
    let attribute =
        "use super::second; #[derive(Deserialize)] pub struct First { #[serde(with = \"second\")] a: A }";
    for first in [macros, attribute] {
        let files = [
            ("src/state/lib.rs", "mod first; mod second;"),
            ("src/state/first.rs", first),
            ("src/state/second.rs", second),
        ];
        assert_eq!(circles_of(&files), ["src/state/first.rs", "src/state/second.rs"], "{first}");
    }
}

#[test]
fn no_circle_between_a_module_and_what_is_below_it() {
    let files = [
        ("src/state/lib.rs", "mod child; pub use child::Child; pub struct Store(Child);"),
        ("src/state/child.rs", "use super::Store; pub struct Child(Box<Store>);"),
    ];
    assert_eq!(circles_of(&files), [""; 0]);
}

#[test]
fn no_circle_where_a_parent_only_passes_names_on() {
    let files = [
        ("src/state/lib.rs", "mod first; mod second; pub use first::First; pub use second::Second;"),
        ("src/state/first.rs", "use super::Second; pub struct First(Second);"),
        ("src/state/second.rs", "pub struct Second;"),
    ];
    assert_eq!(circles_of(&files), [""; 0]);
}

#[test]
fn no_circle_through_what_is_compiled_for_tests_only() {
    let files = [
        ("src/state/lib.rs", "#[cfg(test)] mod testing; mod store;"),
        (
            "src/state/store.rs",
            "pub struct Store; #[cfg(test)] mod tests { use crate::testing::store; fn f() { store() } }",
        ),
        ("src/state/testing.rs", "use crate::store::Store; pub fn store() -> Store { Store }"),
    ];
    assert_eq!(circles_of(&files), [""; 0]);
}

#[test]
fn a_word_of_a_domain_in_the_platform() {
    let tree = Tree::of(&[
        ("build.rs", "// Yahoo's too."),
        ("src/cli/sales_import.rs", ""),
        ("src/domains.rs", "pub mod sales;"),
        ("src/domains/diagnostics/lib.rs", ""),
        ("src/domains/sales/lib.rs", "// Sales, from the brokerage."),
        ("src/server/faces.rs", "#[cfg(test)] mod tests { const SALES: &str = \"\"; }"),
        ("src/main.rs", "// Sales."),
        ("src/state/lib.rs", "// With diagnostics."),
    ]);
    assert_eq!(
        whats(words::of_domains(&tree)),
        ["build.rs", "src/cli/sales_import.rs", "src/server/faces.rs"]
    );
}

#[test]
fn a_word_that_a_domain_declares_in_data_of_the_platform() {
    let tree = Tree::of(&[
        ("data/sales/lexicon.json", r#"{"things": ["region"], "orders": ["place"]}"#),
        ("data/tools/compare_sales.json", r#"{"keywords": ["Turnover", "by year", "compare"]}"#),
        ("src/domains/sales/lib.rs", ""),
        ("src/domains/sales/words.toml", "region"),
        ("src/planner/english.toml", "things = \"one region\""),
        ("src/planner/lib.rs", "//! The region of a text."),
        ("src/planner/more.toml", "verbs = \"compare place year\" # Of no regions."),
        ("src/planner/weights.toml", "turnover = 1"),
        ("src/state/sizes.toml", "# Of the sales."),
        ("tests/region.toml", "region"),
    ]);
    assert_eq!(
        whats(words::of_domains(&tree)),
        ["src/planner/english.toml", "src/planner/weights.toml", "src/state/sizes.toml"]
    );
}

#[test]
fn a_file_that_is_too_long() {
    let (code, tests) =
        ("fn f() {}\n".repeat(301), format!("#[cfg(test)]\nmod tests {{\n{}}}", "\n".repeat(500)));
    let tree = Tree::of(&[
        ("src/long.rs", &code),
        ("src/long_tests.rs", &tests),
        ("src/parent.rs", "#[cfg(test)] mod tests;"),
        ("src/parent/tests.rs", &code),
        ("src/short.rs", &format!("{}{}", &code[10..], "#[cfg(test)] mod tests {}")),
        ("tests/long.rs", &"\n".repeat(501)),
    ]);
    assert_eq!(whats(lengths::too_long(&tree)), ["src/long.rs", "src/long_tests.rs", "tests/long.rs"]);
}

#[test]
fn a_planner_beyond_its_budget() {
    let words = format!("# Not counted.\n\n{}", "word = 1\n".repeat(4_600));
    let of = |code| Tree::of(&[("src/planner/lib.rs", code), ("src/planner/english.toml", words.as_str())]);
    assert_eq!(whats(lengths::over_budget(&of("//! Not counted.\n\n"))), [""; 0]);
    assert_eq!(whats(lengths::over_budget(&of("fn f() {}\n"))), ["src/planner/"]);
}

#[test]
fn a_silent_file_and_one_named_mod() {
    let tree = Tree::of(&[("src/store.rs", "//! What it is.\n"), ("src/state/mod.rs", "pub struct Store;")]);
    assert_eq!(whats(files::silent(&tree)), ["src/state/mod.rs"]);
    assert_eq!(whats(files::mod_files(&tree)), ["src/state/mod.rs"]);
}

#[test]
fn a_file_that_is_named_by_a_participle() {
    let files =
        ["src/a/gated.rs", "src/a/late.rs", "src/a/feed.rs", "src/a/kept_results.rs", "src/a/shared.rs"];
    let tree = Tree::of(&files.map(|file| (file, "//! One.\n")));
    let expected = ["src/a/gated.rs", "src/a/late.rs", "src/a/shared.rs"];
    assert_eq!(whats(files::named_by_participles(&tree)), expected);
}

#[test]
#[should_panic(expected = "b.rs: breaks the rule")]
fn a_finding_without_an_exception() {
    let findings = [Finding::new("a.rs", "breaks the rule"), Finding::new("b.rs", "breaks the rule")];
    crate::findings::assert_only(&["a.rs"], &findings);
}

#[test]
#[should_panic(expected = "a.rs: keeps the rule now")]
fn an_exception_without_a_finding() {
    crate::findings::assert_only(&["a.rs"], &[]);
}

fn is_unidiomatic(text: &str) -> bool {
    !plain::unidiomatic(&Tree::of(&[("src/a.rs", text)])).is_empty()
}

fn repeats_a_name(text: &str) -> bool {
    !plain::repeated_names(&Tree::of(&[("src/a.rs", text)])).is_empty()
}

#[test]
fn a_comment_that_is_not_idiomatic() {
    let unidiomatic = [
        "//! Who may call.",
        "/// The limit. Who calls alone\n/// is not held back.\nfn f() {}",
        "fn f() {\n    // Left to whoever reads.\n}",
        "/// Nobody reads it.\nfn f() {}",
        "/// So many pages are read at\n/// once.\nconst MOST: u32 = 1;",
        "/// Waits so long.\nfn f() {}",
        "/// What a model is\n/// told.\nfn f() {}",
    ];
    for text in unidiomatic {
        assert!(is_unidiomatic(text), "{text}");
    }
    let idiomatic = [
        "//! Who may call? The users who have the right.",
        "//! `audit`: who did what.",
        "/// Maximum number of pages.\nconst MOST: u32 = 1;",
        "/// Lives for so long as `nobody` drops it, and it has so much that it overflows.\nfn f() {}",
        "fn f() { println!(\"nobody is told\"); }",
        "/// It is.\n///\n/// told\nfn f() {}",
    ];
    for text in idiomatic {
        assert!(!is_unidiomatic(text), "{text}");
    }
}

#[test]
fn a_doc_comment_that_only_repeats_a_name() {
    let repeating = [
        "/// The page token.\npub struct PageToken;",
        "struct Call {\n    /// The tools of it.\n    #[serde(default)]\n    pub(crate) tool: String,\n}",
        "enum State {\n    /// Running.\n    Running,\n}",
        "impl<T> Parser<T> {\n    /// A new parser.\n    pub const fn new() -> Self { Self }\n}",
        "trait Store {\n    /// Takes the entry.\n    async fn take_entry(&self);\n}",
        "settings! { /// The bounds.\n bounds: u32 = 1 }",
        "/// `get_quotes`.\nstruct GetQuotes;",
    ];
    for text in repeating {
        assert!(repeats_a_name(text), "{text}");
    }
    let telling = [
        "/// The opaque cursor of a list.\npub struct PageToken;",
        "struct Call {\n    /// The tool; `None` for a route.\n    tool: Option<String>,\n}",
        "/// The parser.\npub struct Reader { parser: u8, /** Unread. */ rest: u8 }",
        "enum Line {\n    /// `# a`.\n    Heading,\n}",
        "//! The store.\nstruct Store;",
        "#[cfg(test)]\nmod tests { fn the_store() {} }",
    ];
    for text in telling {
        assert!(!repeats_a_name(text), "{text}");
    }
}

#[test]
fn a_specification_by_its_number() {
    for text in
        ["(spec 004 §5.3)", "// Specification 000's words.", "The loop (002).", "as 003 has it", "001, too"]
    {
        let tree = Tree::of(&[
            ("docs/HTTP.md", text),
            ("docs/ORIGINS.md", text),
            ("examples/deploy/grafana/toolwire.json", text),
            ("proto/toolwire/v1/tool.proto", text),
            ("src/a.rs", text),
        ]);
        let found = whats(origins::numbered(&tree));
        assert_eq!(
            found,
            [
                "src/a.rs",
                "docs/HTTP.md",
                "examples/deploy/grafana/toolwire.json",
                "proto/toolwire/v1/tool.proto"
            ],
            "{text}"
        );
    }
    for text in [
        "4,000 tokens",
        "0.000",
        "2026-11-22T02:49:32.000Z",
        "a-000-b",
        "HTTP 100",
        "12_000",
        "#000000",
        "005",
    ] {
        assert_eq!(whats(origins::numbered(&Tree::of(&[("docs/HTTP.md", text)]))), [""; 0], "{text}");
    }
}

#[test]
fn a_link_that_leads_nowhere() {
    let page = "# Calls, `once`\n[top](#calls-once) [other](../README.md#what-it-is) [site](https://a.example/#b)\n\
                ```\n# code\n[no link](x.md)\n```\n";
    let tree = |page: &str, code: &str| {
        Tree::of(&[("docs/PAGE.md", page), ("README.md", "## What it is\n"), ("src/a.rs", code)])
    };
    let broken = |page: &str, code: &str| whats(links::broken(&tree(page, code)));
    assert_eq!(broken(page, "// docs/PAGE.md#calls-once says how."), [""; 0]);
    for link in
        ["[a](#code)", "[a](README.md)", "[a](../README.md#it)", "[a](../README)", "[a](PAGE.md#calls)"]
    {
        assert_eq!(broken(&format!("{page}{link}"), ""), ["docs/PAGE.md"], "{link}");
    }
    assert_eq!(broken(page, "// See docs/GONE.md."), ["src/a.rs"]);
    assert_eq!(broken(page, "\"docs/PAGE.md#code\""), ["src/a.rs"]);
}

#[test]
fn a_page_that_the_index_does_not_name() {
    let missing = |index: &str| {
        let pages =
            [("docs/HTTP.md", ""), ("docs/TASKS.md", ""), ("docs/README.md", index), ("README.md", "")];
        whats(links::not_in_the_index(&Tree::of(&pages)))
    };
    assert_eq!(missing("[a](HTTP.md) [b](TASKS.md#states) [c](../README.md)"), [""; 0]);
    assert_eq!(missing("[a](HTTP.md), and TASKS.md without a link"), ["docs/TASKS.md"]);
    assert_eq!(missing(""), ["docs/HTTP.md", "docs/TASKS.md"]);
}

#[test]
#[should_panic(expected = "src/state/: keeps the rule now")]
fn a_folder_that_is_excepted_and_idiomatic() {
    let found =
        plain::unidiomatic(&Tree::of(&[("src/state/lib.rs", "//! A store."), ("src/a.rs", "//! A.")]));
    crate::findings::assert_only(&["src/state/"], &plain::by_folder(found, &["src/state/"]));
}

#[test]
fn a_folder_that_is_excepted_and_not_idiomatic() {
    let found = plain::unidiomatic(&Tree::of(&[("src/state/lib.rs", "//! Nobody.")]));
    crate::findings::assert_only(&["src/state/"], &plain::by_folder(found, &["src/state/"]));
}

#[test]
fn a_comment_that_is_too_wide() {
    let comment = format!("// {}", "ä".repeat(117));
    let wide = format!("{comment}x");
    assert!(plain::wide_comments(&Tree::of(&[("src/a.rs", &comment)])).is_empty());
    assert_eq!(whats(plain::wide_comments(&Tree::of(&[("src/a.rs", &wide)]))), ["src/a.rs"]);
}

#[test]
fn a_record_of_a_source_with_a_bare_text() {
    let wire = "#[derive(Deserialize)] struct Row { title: Option<String>, at: Line, kind: &'static str, any: Value }\n\
                enum Answer { Of(Vec<Cow<'static, str>>), None }\n\
                #[cfg(test)] mod tests { struct Expected { title: String } }";
    let files = [
        ("src/domains/sales/sources/shop/wire.rs", wire),
        ("src/domains/sales/sources/embedded/shop.rs", wire),
        ("src/domains/sales/tools/browse.rs", wire),
    ];
    let expected = ["Row.title", "Row.any", "Answer::Of.0"];
    let expected = expected.map(|field| format!("src/domains/sales/sources/shop/wire.rs: {field}"));
    assert_eq!(whats(outside::bare(&Tree::of(&files))), expected);
}

#[test]
fn a_statement_for_one_engine_elsewhere() {
    let one = "fn f() { sql!(\"SELECT a /*postgres , b */ FROM t\") }";
    let tree = Tree::of(&[
        ("src/state/backup/check.rs", "fn f() { Statement::new(\"PRAGMA integrity_check\") }"),
        ("src/state/transactions/jobs.rs", "// PRAGMA is not used.\nfn f() { sql!(\"SELECT a FROM t\") }"),
        ("src/db/postgres/hints.rs", "fn f() { sqlx::query(\"SELECT pg_notify($1, '')\") }"),
        ("src/state/jobs/rows.rs", one),
        ("src/db/sql/dialect.rs", one),
        ("src/state/dialect.rs", one),
    ]);
    assert_eq!(whats(engines::of_one_only(&tree)), ["src/state/backup/check.rs", "src/state/jobs/rows.rs"]);
}

#[test]
fn a_schema_that_is_run_without_bounds() {
    let one = "//! One.\nuse jsonschema::Validator;";
    let tree = Tree::of(&[
        ("src/engine/input.rs", one),
        ("src/schema/lib.rs", one),
        ("src/engine/a.rs", "//! jsonschema::"),
    ]);
    assert_eq!(whats(schemas::run_elsewhere(&tree)), ["src/engine/input.rs"]);
}

#[test]
fn a_command_in_the_text_of_a_call() {
    let text = "//! `toolwire x` is one.\nconst WHY: &str = \"begin it with `toolwire tasks start`\";\n";
    for (path, expected) in [
        ("src/engine/record.rs", &["src/engine/record.rs"][..]),
        ("src/cli/call.rs", &[]),
        ("src/domains/research/commands/sign_in.rs", &[]),
    ] {
        assert_eq!(whats(commands::in_texts(&Tree::of(&[(path, text)]))), expected, "{path}");
    }
}

/// The manifest of a crate below `src/`, `toolwire-` and its folder its name.
fn manifest(folder: &str, dependencies: &str) -> (String, String) {
    let name = folder.rsplit_once('/').map_or(folder, |(_, name)| name);
    (format!("src/{folder}/Cargo.toml"), format!("[package]\nname = \"toolwire-{name}\"\n{dependencies}"))
}

fn breached(manifests: &[(String, String)]) -> Vec<String> {
    let files: Vec<_> = manifests.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    walls::breached(&Tree::of(&files)).into_iter().map(|finding| finding.why).collect()
}

#[test]
fn a_dependency_through_a_wall() {
    for (dependencies, expected) in [
        ("[dependencies]\ntoolwire-planner.workspace = true", "toolwire-server depends on toolwire-planner"),
        ("[dependencies]\ntoolwire-help.workspace = true", "toolwire-server depends on toolwire-agent"),
        ("[dev-dependencies]\ntoolwire-agent = { path = \"\" }", "toolwire-server depends on toolwire-agent"),
        ("[build-dependencies]\ntoolwire-sales = \"1\"", "toolwire-server depends on toolwire-sales"),
        (
            "[target.'cfg(unix)'.dependencies]\nother = { package = \"toolwire-sales\" }",
            "toolwire-server depends on toolwire-sales",
        ),
    ] {
        let found = breached(&[
            manifest("agent", ""),
            manifest("domains/sales", ""),
            manifest("help", "[dependencies]\ntoolwire-agent.workspace = true"),
            manifest("planner", ""),
            manifest("server", dependencies),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with(&format!("{expected}: ")), "{found:?}");
    }
}

#[test]
fn no_wall_between_a_domain_and_what_it_sees_of_the_agent() {
    let found = breached(&[
        manifest("agent", "[dependencies]\ntoolwire-agent-api.workspace = true\ntoolwire-server = \"1\""),
        manifest("agent-api", "[dependencies]\nserde = \"1\""),
        manifest("domains/sales", "[dependencies]\ntoolwire-agent-api.workspace = true"),
        manifest("help", "[dev-dependencies]\ntoolwire-agent.workspace = true"),
        manifest("server", "[dependencies]\ntoolwire-help.workspace = true"),
    ]);
    assert_eq!(found, [""; 0]);
}
