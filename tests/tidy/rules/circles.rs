//! Files of one room that stand on each other. A shared name goes into the file that both stand on.

use crate::{
    edges::{between_parts, circles},
    findings::Finding,
    names::Part,
    reading::Crate,
};

/// The files that stand in a circle. One through two rooms is a circle of rooms.
pub(crate) fn in_circles(all: &Crate) -> Vec<Finding> {
    let mut edges = between_parts(all);
    edges.retain(|(from, to), _| room(from) == room(to));
    let circles = circles(&edges).into_iter().flatten();
    circles
        .map(|(part, others)| Finding::new(&part.to_string(), &format!("stands on {}", others.join("; "))))
        .collect()
}

fn room(part: &Part) -> Option<&str> {
    part.file.split(['/', '.']).nth(1)
}
