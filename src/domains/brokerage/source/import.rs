//! Merges legacy files, one a section, into one master file.
//!
//! Not here: where the master file goes. Nothing is written.

use std::{fs, path::Path};

use serde_json::{Map, Value};

use super::master::Master;
use toolwire_base::{
    files::{Problem, Problems},
    words::without_bom,
};

/// The legacy files and the sections they become, in the order of the master file.
const FILES: [(&str, &str); 6] = [
    ("account.json", "account_summary"),
    ("activity.json", "activity"),
    ("positions.json", "positions"),
    ("quotes.json", "quotes"),
    ("performance.json", "performance"),
    ("transfers.json", "transfers"),
];

/// The master file that the legacy files of a directory stand for, or everything that is wrong with them. Its date is
/// the newest of theirs.
pub fn merge(directory: &Path) -> Result<Value, Problems> {
    if !directory.is_dir() {
        let description = "there is no such directory";
        return Err(Problems(vec![Problem::new(
            &directory.display().to_string(),
            "missing-directory",
            description,
        )]));
    }
    let (mut sections, mut problems) = (Map::new(), Vec::new());
    for (file, section) in FILES {
        match read(directory, file) {
            Ok(value) => {
                sections.insert(section.to_owned(), value);
            }
            Err(problem) => problems.push(problem),
        }
    }
    let master = with_date(sections);
    problems.extend(misfits(&master));
    if problems.is_empty() { Ok(master) } else { Err(Problems(problems)) }
}

fn read(directory: &Path, file: &str) -> Result<Value, Problem> {
    let text = fs::read_to_string(directory.join(file)).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Problem::new(file, "missing-file", "there is no such file"),
        _ => Problem::new(file, "unreadable", error.to_string()),
    })?;
    match serde_json::from_str(without_bom(&text)) {
        Ok(section @ Value::Object(_)) => Ok(section),
        Ok(_) => Err(Problem::new(file, "wrong-type", "expected an object")),
        Err(error) => Err(Problem::new(file, "bad-json", error.to_string())),
    }
}

fn with_date(sections: Map<String, Value>) -> Value {
    let newest = sections.values().filter_map(|section| section.get("as_of")?.as_str()).max();
    let date = newest.map(|date| ("as_of".to_owned(), Value::from(date)));
    date.into_iter().chain(sections).collect::<Map<_, _>>().into()
}

/// What would keep the merged file from being loaded, each problem at the legacy file that has it.
fn misfits(master: &Value) -> Vec<Problem> {
    let problems = Master::parse("user_master.json", &master.to_string()).err().unwrap_or_default();
    problems.into_iter().map(in_legacy_file).collect()
}

fn in_legacy_file(problem: Problem) -> Problem {
    let origin = FILES.iter().find_map(|(file, section)| {
        let rest = problem.pointer.strip_prefix('/')?.strip_prefix(section)?;
        (rest.is_empty() || rest.starts_with('/')).then_some((*file, rest.to_owned()))
    });
    match origin {
        Some((file, pointer)) => Problem { file: file.to_owned(), pointer, ..problem },
        None => Problem { file: "user_master.json".to_owned(), ..problem },
    }
}
