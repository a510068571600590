//! Reads the comments of the proto files, which become the descriptions in the schemas.

use prost_reflect::FieldDescriptor;

/// The comment on a field with its lines joined; empty if there is none.
pub(super) fn of_field(field: &FieldDescriptor) -> String {
    let file = field.parent_file();
    let mut locations = file.file_descriptor_proto().source_code_info.iter().flat_map(|info| &info.location);
    let location = locations.find(|location| location.path == field.path());
    location.map_or_else(String::new, |location| join_lines(location.leading_comments()))
}

/// Joins the lines of each paragraph: the line breaks are only the wrapping of the source.
fn join_lines(comment: &str) -> String {
    let paragraphs = comment.trim().split("\n\n").map(|paragraph| {
        paragraph.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}
