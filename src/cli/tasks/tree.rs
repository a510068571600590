//! The order in which a tree is shown: each task, then the tasks below it, then its next sibling.

use std::collections::HashMap;

use toolwire_contract::proto::tasks::v1::Task;

/// The task of this name and the tasks below it. Tasks come with parents before their children.
pub(super) fn below(tasks: Vec<Task>, top: &str) -> Vec<Task> {
    let mut children: HashMap<String, Vec<Task>> = HashMap::new();
    let mut next = Vec::new();
    for task in tasks {
        if task.task_id == top {
            next.push(task);
        } else {
            children.entry(task.parent_id.clone()).or_default().push(task);
        }
    }
    let mut shown = Vec::new();
    while let Some(task) = next.pop() {
        next.extend(children.remove(&task.task_id).into_iter().flatten().rev());
        shown.push(task);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(top: &str) -> String {
        let task =
            |id: &str, parent: &str| Task { task_id: id.into(), parent_id: parent.into(), ..Task::default() };
        let tasks = [task("r", ""), task("a", "r"), task("b", "r"), task("qa", "a"), task("qb", "b")];
        let below = below(tasks.to_vec(), top);
        below.into_iter().map(|task| task.task_id).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_works_for_a_task_stands_under_it() {
        assert_eq!(names("r"), "r a qa b qb");
    }

    #[test]
    fn a_part_of_a_tree_can_be_shown_alone() {
        assert_eq!(names("a"), "a qa");
        assert_eq!(names("none"), "");
    }
}
