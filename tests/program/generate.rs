//! Typed clients by the command: over a server and in its own process the same bytes, and no file of others replaced.

use std::{fs, path::Path, process::Stdio};

use tempfile::TempDir;
use tokio::process::Command;

use crate::support::server::Server;

/// What the command says in a directory, and its exit code.
async fn generate(directory: &Path, arguments: &[&str]) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    command.current_dir(directory).env_clear().env("TOOLWIRE_STATE", directory.join("state"));
    command.args(["generate", "python", "--out", "tools.py"]).args(arguments);
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    (String::from_utf8(output.stderr).unwrap(), output.status.code())
}

#[tokio::test]
async fn the_same_tools_make_the_same_bytes_wherever_they_are() {
    let (server, here, there) = (Server::start(), TempDir::new().unwrap(), TempDir::new().unwrap());
    let url = format!("http://{}", server.address);
    let of_server = generate(here.path(), &["--server", &url, "--tags", "diagnostics"]).await;
    assert_eq!(of_server, ("wrote tools.py, a client of 8 tools\n".to_owned(), Some(0)));
    let own =
        generate(there.path(), &["--diagnostics", "--tag", "diagnostics", "--tag", "diagnostics"]).await;
    assert_eq!(own.1, Some(0), "{}", own.0);
    let [one, other] = [&here, &there].map(|it| fs::read_to_string(it.path().join("tools.py")).unwrap());
    assert!(one == other);
    assert!(one.starts_with("# Made by `toolwire generate python --tag diagnostics`: "), "{one}");
    assert_eq!(
        generate(there.path(), &["--server", &url, "--tag", "diagnostics", "--check"]).await.1,
        Some(0)
    );
}

#[tokio::test]
async fn the_bundled_tools_have_methods() {
    let directory = TempDir::new().unwrap();
    assert_eq!(generate(directory.path(), &[]).await.1, Some(0));
    let module = fs::read_to_string(directory.path().join("tools.py")).unwrap();
    let (_, method) = module.split_once("    def get_quotes(\n").unwrap();
    let (signature, rest) = method.split_once("        \"\"\"").unwrap();
    assert!(signature.starts_with("        self,\n        *,\n        symbol: str,\n"), "{signature}");
    assert!(signature.ends_with("    ) -> GetQuotesResult:\n"), "{signature}");
    assert!(rest.contains("        return cast(GetQuotesResult, self._call(\"get_quotes\", {\n"));
    assert!(module.contains("\nclass GetQuotesResult(TypedDict):\n"));
}

#[tokio::test]
async fn a_file_of_others_is_kept_and_a_stale_one_is_told() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("tools.py");
    fs::write(&file, "print('mine')\n").unwrap();
    let (said, code) = generate(directory.path(), &["--tag", "positions"]).await;
    assert_eq!(code, Some(1));
    assert!(said.contains("was not written by `toolwire generate`") && said.contains("--force"), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "print('mine')\n");
    let (said, code) = generate(directory.path(), &["--tag", "positions", "--check"]).await;
    assert_eq!(code, Some(1));
    let again = "Write it again with `toolwire generate python --tag positions --out tools.py`";
    assert!(said.contains("is stale from line 1 on") && said.contains(again), "{said}");
    assert_eq!(generate(directory.path(), &["--tag", "positions", "--force"]).await.1, Some(0));
    assert_eq!(generate(directory.path(), &["--tag", "positions"]).await.1, Some(0), "its own");
    let (said, code) = generate(directory.path(), &["--tag", "nothing_has_this"]).await;
    assert_eq!((code, said.contains("no tool has nothing_has_this")), (Some(1), true), "{said}");
    assert!(fs::read_to_string(&file).unwrap().starts_with("# Made by"));
}
