//! How long files may be.

use crate::{
    findings::Finding,
    syntax,
    tree::{File, Tree},
};

/// Ask why at 300 lines; tests within the file do not count.
const MOST_CODE: usize = 300;

/// Tests read from top to bottom, so they may be longer.
const MOST_TESTS: usize = 500;

/// Files that are too long, be it their code or their tests.
pub(crate) fn too_long(tree: &Tree) -> Vec<Finding> {
    let test_modules = tree.test_modules();
    let findings = tree.files.iter().flat_map(|file| {
        let (code, tests) = lines(file, &test_modules);
        let code = (code > MOST_CODE).then(|| Finding::new(&file.path, &format!("{code} lines of code")));
        let tests =
            (tests > MOST_TESTS).then(|| Finding::new(&file.path, &format!("{tests} lines of tests")));
        [code, tests].into_iter().flatten()
    });
    findings.collect()
}

/// The planner's lines that are neither blank nor comments, its lists of words and its tests included.
const MOST_PLANNER: usize = 4_600;

/// The planner, if it is larger than what it answers is worth: a model understands what it does not.
pub(crate) fn over_budget(tree: &Tree) -> Vec<Finding> {
    let files = tree.files.iter().chain(&tree.data).filter(|file| file.path.starts_with("src/planner/"));
    let is_code = |line: &&str| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with("//") && !line.starts_with('#') || line.starts_with("#[")
    };
    let count: usize = files.map(|file| file.text.lines().filter(is_code).count()).sum();
    let finding = || Finding::new("src/planner/", &format!("{count} lines of code and words"));
    (count > MOST_PLANNER).then(finding).into_iter().collect()
}

/// The lines of code and those of tests.
fn lines(file: &File, test_modules: &[Vec<String>]) -> (usize, usize) {
    let all = file.text.lines().count();
    let module = file.module();
    if file.path.starts_with("tests/") || test_modules.iter().any(|test| module.starts_with(test)) {
        return (0, all);
    }
    let tests = syntax::test_lines(file.syntax());
    (all - tests, tests)
}
