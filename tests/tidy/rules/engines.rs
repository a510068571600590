//! Statements that exist for one engine of the state only: they are those of `src/state/dialect.rs`, and of the
//! folders of the engines.

use crate::{
    findings::Finding,
    tree::{File, Tree},
};

/// Files that may have one. Moving a state reads one engine and writes the other.
const OF_AN_ENGINE: [&str; 5] = [
    "src/db/postgres/",
    "src/db/sql/",
    "src/db/sqlite/",
    "src/state/backup/transfer.rs",
    "src/state/dialect.rs",
];

/// What a statement for both does not contain.
const MARKS: [&str; 6] = ["/*postgres", "/*sqlite", "PRAGMA ", "sqlx::query", "raw_sql(", "pg_"];

/// Lines with such a statement.
pub(crate) fn of_one_only(tree: &Tree) -> Vec<Finding> {
    let is_code = |file: &&File| !OF_AN_ENGINE.iter().any(|folder| file.path.starts_with(folder));
    tree.sources().filter(is_code).flat_map(of_file).collect()
}

fn of_file(file: &File) -> Vec<Finding> {
    let lines = file.text.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
    let found = lines.filter(|line| MARKS.iter().any(|mark| line.contains(mark)));
    let why = "is a statement for one engine: move it to src/state/dialect.rs";
    found.map(|line| Finding::new(&file.path, &format!("`{line}` {why}"))).collect()
}
