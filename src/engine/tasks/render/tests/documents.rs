//! Documents: whole, as bytes, or as a reference.

use super::*;

#[test]
fn of_one_path_only_the_newest_version_stands_whole() {
    let with = |version| Outcome { documents: vec![reference("a.md", version)], ..outcome("{}") };
    let call = |id: &str, version| {
        Body::Call(ToolCall {
            id: id.to_owned(),
            tool: "x".to_owned(),
            outcome: with(version),
            ..ToolCall::default()
        })
    };
    let mut task = Task::of("Do.", vec![event(1, 1, 0, call("a", 2)), event(2, 2, 0, call("b", 1))]);
    task.request.documents = vec![reference("a.md", 1), reference("gone.md", 1)];
    task.documents =
        [1, 2].map(|version| (reference("a.md", version), text_document(&format!("v{version}")))).into();
    let lines = lines(&task.render(9_000).unwrap());
    assert!(lines[0].contains("a.md@1 reference text/plain, 2 bytes, not shown here. A text."), "{lines:?}");
    assert!(lines[0].contains("gone.md@1 reference It cannot be read any longer."), "{lines:?}");
    assert!(lines[2].contains("a.md@2 whole v2") && lines[4].contains("a.md@1 reference"), "{lines:?}");
}

#[test]
fn media_that_the_model_takes_are_bytes_within_their_bound() {
    let image = |size: usize| Document {
        mime_type: "image/png".to_owned(),
        content: Some(DocumentContent::Media(vec![7; size])),
        size: size as u64,
        tokens: None,
        summary: String::new(),
    };
    let mut task = Task::of("Look.", Vec::new());
    task.request.documents = vec![reference("a.png", 1), reference("b.png", 1)];
    task.documents = [("a.png", 2_000_000), ("b.png", 1_000_000)]
        .map(|(path, size)| (reference(path, 1), image(size)))
        .into();
    assert!(lines(&task.render(9_000).unwrap())[0].contains("b.png@1 reference"));
    task.media_types = vec!["image/png".to_owned()];
    let rendered = task.render(9_000).unwrap();
    assert!(
        lines(&rendered)[0].contains("a.png@1 reference image/png, 2000000 bytes"),
        "{:?}",
        lines(&rendered)
    );
    assert!(lines(&rendered)[0].contains("b.png@1 whole 1000000"));
    assert_eq!(rendered.cuts, ["media as references: a.png"]);
}
