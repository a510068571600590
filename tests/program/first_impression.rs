//! What a newcomer sees first: the list of tools, samples without data, a configuration that is checked, tokens that no
//! list of processes shows, and pages that send nobody to what is not there.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Output,
};

use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

use crate::support::program::Program;

const TOKEN: &str = "riley-0123456789abcdef";

/// The program in a folder of its own, with the given `toolwire.toml` and nothing in its environment.
struct Folder(TempDir);

impl Folder {
    fn with(settings: &str) -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        fs::write(folder.path().join("toolwire.toml"), settings).expect("written");
        Self(folder)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).expect("written");
    }

    async fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
        command.args(arguments).current_dir(&self.0).env_clear().env("PATH", "/usr/bin:/bin");
        command.env("TOOLWIRE_STATE", self.0.path().join("state"));
        let Output { status, stdout, stderr } = command.output().await.expect("runs");
        let text = |bytes| String::from_utf8(bytes).expect("a text");
        (status.code().expect("it ended"), text(stdout), text(stderr))
    }
}

#[tokio::test]
async fn tools_are_listed_by_domain_with_the_samples_last_and_a_word_on_ones_own() {
    let folder = Folder::with("");
    let (code, listed, said) = folder.run(&["list", "--diagnostics"]).await;
    assert_eq!(code, 0, "{said}");
    let headings: Vec<_> = listed.lines().filter(|line| !line.starts_with(' ')).collect();
    let samples = ["brokerage (samples)", "orchestration (samples)", "research (samples)"];
    assert_eq!(headings[headings.len() - 3..], samples, "{listed}");
    assert!(headings.contains(&"diagnostics") && headings.len() > 4, "{headings:?}");
    assert!(said.contains("docs/OWN_TOOLS.md says how to serve your own"), "{said}");
    let (_, listed, said) = folder.run(&["list", "--search", "deposit TRANSFER"]).await;
    let names: Vec<_> =
        listed.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    assert!(!names.is_empty() && names.len() < 12, "{listed}{said}");
    let (_, found, _) = folder.run(&["list", "--search", "deposit TRANSFER", "--json"]).await;
    let found: Vec<Value> = serde_json::from_str(&found).expect("JSON");
    for tool in found {
        let text = tool.to_string().to_lowercase();
        assert!(text.contains("deposit") && text.contains("transfer"), "{tool}");
        assert!(tool["domain"] == "brokerage" && tool["sample"] == true, "{tool}");
    }
    let (code, listed, said) = folder.run(&["list", "--search", "nothing has this word"]).await;
    assert_eq!((code, &*listed), (0, ""));
    assert!(said.contains("no such tools"), "{said}");
    let without = Folder::with("[server]\nsamples = false\n");
    let (_, listed, said) = without.run(&["list"]).await;
    assert!(!listed.contains("samples") && listed.contains("read_result"), "{listed}");
    assert!(!said.contains("Samples show"), "{said}");
}

#[tokio::test]
async fn a_user_without_data_learns_that_the_tool_is_a_sample_and_what_to_do() {
    let folder = Folder::with(&format!("[[auth.users]]\nuser_id = 'casey'\ntoken = '{TOKEN}'\n"));
    for call in [&["call", "get_account_summary"][..], &["call", "get_quotes", "AAPL"]] {
        let (code, _, said) = folder.run(&[call, &["--user", "casey"]].concat()).await;
        assert_eq!(code, 1, "{said}");
        for words in
            ["No brokerage data for user casey", "sample tools", "the user demo alone", "docs/OWN_TOOLS.md"]
        {
            assert!(said.contains(words), "{words}: {said}");
        }
    }
}

#[tokio::test]
async fn the_linter_knows_what_is_served_and_what_providers_may_own() {
    let good = "[server]\nsamples = false\n\
                [[auth.users]]\nuser_id = 'alex'\ntoken_env = 'ALEX_TOKEN'\ntools = ['refund']\napprove = ['ref*']\n\
                [providers.shop]\nkind = 'host'\ntoken_env = 'SHOP_TOKEN'\ntools = ['order_*', 'refund']\n\
                approve = ['order_delete*']\n[providers.shop.conditions.refund]\namount = { maximum = 50 }\n";
    let (code, out, said) = Folder::with(good).run(&["lint"]).await;
    assert_eq!((code, out.trim()), (0, "0 problems"), "{said}");
    let wrong = good
        .replace("order_delete*", "oder_delete*")
        .replace("conditions.refund", "conditions.refnd")
        .replace("'ref*'", "'rev*'")
        .replace("samples = false", "samples = true")
        .replace("'order_*'", "'order_*', 'get_quotes'");
    let (code, out, said) = Folder::with(&wrong).run(&["lint"]).await;
    assert_eq!(code, 1, "{said}");
    for line in [
        "providers.shop: approve     setting  \"oder_delete*\" is no name that this provider may own",
        "providers.shop: conditions  setting  \"refnd\" is no name that this provider may own, which `tools` says. Did \
         you mean refund?",
        "providers.shop: tools       setting  a tool of this server is called \"get_quotes\"",
        "auth.users: approve         setting  \"rev*\" of alex matches no tool",
        "4 problems",
    ] {
        assert!(out.contains(line), "{line}: {out}");
    }
}

#[tokio::test]
async fn a_command_needs_the_tokens_that_it_presents_and_a_server_all() {
    let server = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/mcp_server.py");
    let folder = Folder::with(&format!(
        "[[auth.users]]\nuser_id = 'riley'\ntoken_env = 'RILEY_TOKEN'\n\
         [providers.shop]\nkind = 'host'\ntoken_env = 'SHOP_TOKEN'\n\
         [providers.web]\nkind = 'mcp'\nurl = 'https://tools.invalid/mcp'\ntoken_env = 'WEB_TOKEN'\n\
         [providers.docs]\nkind = 'mcp'\ncommand = ['/usr/bin/python3', '{server}']\nenv = ['PATH']\ntools = ['echo']\n"
    ));
    let (code, out, said) = folder.run(&["providers", "diff", "docs"]).await;
    assert!(code == 0 && out.contains("new      echo"), "{out}{said}");
    let (code, out, said) = folder.run(&["list", "--user", "riley"]).await;
    assert!(code == 0 && out.contains("get_quotes"), "{said}");
    let (code, _, said) = folder.run(&["providers", "diff", "web"]).await;
    assert!(code == 1 && said.contains("names WEB_TOKEN, which is not set"), "{said}");
    let (code, _, said) = folder.run(&["serve", "--listen", "127.0.0.1:0"]).await;
    assert_eq!(code, 2, "{said}");
    for name in ["RILEY_TOKEN", "SHOP_TOKEN", "WEB_TOKEN"] {
        assert!(said.contains(&format!("token_env names {name}, which is not set")), "{said}");
    }
}

#[tokio::test]
async fn a_token_is_read_from_a_file() {
    let folder = Folder::with("");
    let settings = format!("[[auth.users]]\nuser_id = 'riley'\ntoken = '{TOKEN}'\n");
    folder.write("users.toml", &settings);
    let server = Program::start(folder.0.path(), &["--config", "users.toml"], &[]).await;
    let address = format!("http://{}", server.address);
    let list = async |file: &str| folder.run(&["list", "--server", &address, "--token-file", file]).await;
    folder.write("riley.token", &format!("\u{feff}{TOKEN}\n"));
    assert_eq!(list("riley.token").await.0, 0);
    folder.write("other.token", "other");
    let (code, _, said) = list("other.token").await;
    assert!(code == 1 && said.contains("Give a token with --token-file FILE or TOOLWIRE_TOKEN"), "{said}");
    folder.write("two.token", "one two");
    folder.write("empty.token", " \n");
    for (file, why) in
        [("two.token", "more than one word"), ("empty.token", "it is empty"), ("none", "No such file")]
    {
        let (code, _, said) = list(file).await;
        assert!(
            code == 2 && said.contains(&format!("--token-file {file}: ")) && said.contains(why),
            "{said}"
        );
    }
    // What is printed to go on with names the file, and never the token.
    let (_, _, said) = folder
        .run(&["chat", "What is Apple trading at?", "--server", &address, "--token-file", "riley.token"])
        .await;
    assert!(said.contains(" --token-file riley.token \"...\"") && !said.contains(TOKEN), "{said}");
    let arguments = ["mcp", "--print", "cursor", "--server", &address, "--token-file", "riley.token"];
    let (_, printed, _) = folder.run(&arguments).await;
    assert!(printed.contains("riley.token\"") && !printed.contains("TOOLWIRE_TOKEN"), "{printed}");
}

/// The texts that people read or copy: pages, examples, the SDK.
fn texts() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = Vec::new();
    let mut folders = vec![root.join("docs"), root.join("examples"), root.join("sdk/python")];
    for page in ["README.md", "CONTRIBUTING.md"] {
        texts.push((root.join(page), fs::read_to_string(root.join(page)).expect("readable")));
    }
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path()) {
            let name = entry.file_name().and_then(|it| it.to_str()).unwrap_or_default();
            if entry.is_dir() {
                folders.extend((!["node_modules", "target", "tests"].contains(&name)).then_some(entry));
            } else if let Ok(text) = fs::read_to_string(&entry) {
                texts.push((entry, text));
            }
        }
    }
    texts
}

#[test]
fn no_page_names_a_package_that_is_not_published_or_a_token_on_a_command_line() {
    let wrong = [
        "pip install toolwire",
        "pip install 'toolwire",
        "`toolwire[",
        "--token $",
        "--token \"",
        "--token TOKEN",
    ];
    for (file, text) in texts() {
        for words in wrong {
            assert!(!text.contains(words), "{}: {words}", file.display());
        }
    }
}

#[tokio::test]
async fn every_variable_that_pages_examples_and_the_sdk_name_leaves_a_server_startable() {
    // Its variables are those of tests, which no server is started with.
    let texts = texts().into_iter().filter(|(file, _)| !file.ends_with("CONTRIBUTING.md"));
    let names = texts.flat_map(|(_, text)| {
        let parts = text.split("TOOLWIRE_").skip(1).map(|rest| {
            let end = rest.find(|c: char| !(c.is_ascii_uppercase() || c == '_')).unwrap_or(rest.len());
            format!("TOOLWIRE_{}", &rest[..end])
        });
        parts.collect::<Vec<_>>()
    });
    // The file of settings is another's test: without it nothing else is read.
    let names = names.filter(|name| !name.ends_with('_') && name != "TOOLWIRE_CONFIG");
    let names: BTreeSet<String> = names.collect();
    assert!(names.contains("TOOLWIRE_SERVER") && names.len() > 10, "{names:?}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    command.args(["serve", "--print-config"]).current_dir(std::env::temp_dir()).env_clear();
    // That they are known; what they must hold is another matter.
    command.envs(names.iter().map(|name| (name, "x")));
    let output = command.output().await.expect("runs");
    let said = String::from_utf8(output.stderr).expect("a text");
    let unknown: Vec<_> = said.lines().filter(|line| line.contains("unknown setting")).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
