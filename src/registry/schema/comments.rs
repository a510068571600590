//! The comments of `proto/`, which are the descriptions of the schemas.

use std::{collections::HashMap, sync::LazyLock};

use prost_reflect::{FieldDescriptor, prost_types::FileDescriptorProto};

use crate::contract::proto;

/// Comments by file and by path within it.
type Comments = HashMap<(String, Vec<i32>), String>;

static COMMENTS: LazyLock<Comments> =
    LazyLock::new(|| proto::descriptors().file_descriptor_protos().flat_map(of_file).collect());

/// The comment on a field, its lines joined. Empty without one.
pub(super) fn of_field(field: &FieldDescriptor) -> &'static str {
    let file = field.parent_message().parent_file().name().to_owned();
    COMMENTS.get(&(file, field.path().to_vec())).map_or("", String::as_str)
}

fn of_file(file: &FileDescriptorProto) -> Vec<((String, Vec<i32>), String)> {
    let locations = file.source_code_info.iter().flat_map(|info| &info.location);
    locations
        .filter(|location| location.leading_comments.is_some())
        .map(|location| {
            ((file.name().to_owned(), location.path.clone()), join_lines(location.leading_comments()))
        })
        .collect()
}

/// Lines are where the author's editor wrapped; paragraphs are meant.
fn join_lines(comment: &str) -> String {
    let paragraphs = comment.trim().split("\n\n").map(|paragraph| {
        paragraph.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}
