//! Templates on disk: taken over, refused, and what they show of text from outside.

use std::{fs, path::Path};

use serde_json::{Map, Value, json};

use super::*;
use toolwire_base::files::{Embedded as Files, Problems, Tree};
use toolwire_engine::registry::DataSource as _;

/// A data directory with templates of the domain `toys`.
struct Data(tempfile::TempDir);

impl Data {
    fn with(files: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("toys/answers")).unwrap();
        let data = Self(root);
        for (name, text) in files {
            data.write(name, text);
        }
        data
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join("toys/answers").join(name), text).unwrap();
    }

    fn open(&self) -> Result<Templates, Problems> {
        let tools = ["get_toy", "list_toys"].map(str::to_owned).into();
        let folder = Folder { domain: "toys", embedded: Files::default(), tools };
        Templates::open(Tree::Disk(self.path().to_owned()), vec![folder])
    }
}

fn render(templates: &Templates, data: Value) -> String {
    let item = ContextItem {
        tool: "get_toy".to_owned(),
        call_id: String::new(),
        source_ids: vec!["tool:toys:v1".to_owned()],
        as_of: "2026-01-15".to_owned(),
        kind: "ResultContext".to_owned(),
        data,
    };
    templates.render(&Values { item: &item, title: "Toy", arguments: &Map::new() }).unwrap().unwrap()
}

#[test]
fn everything_that_is_wrong_is_told_with_file_and_line() {
    let data = Data::with(&[
        ("get_toy.md", "one\n{% if data.x %}\nnever closed"),
        ("list_toys.md", "{{ dta.x }} {{ other }}"),
        ("get_toyz.md", "x"),
    ]);
    let Problems(problems) = data.open().unwrap_err();
    let told: Vec<_> = problems.iter().map(|it| (it.file.as_str(), it.rule)).collect();
    let expected = [
        ("toys/answers/get_toy.md", "bad-template"),
        ("toys/answers/get_toyz.md", "unreadable"),
        ("toys/answers/list_toys.md", "unknown-value"),
    ];
    assert_eq!(told, expected);
    assert!(problems[0].description.starts_with("line 3: "), "{}", problems[0].description);
    assert_eq!(problems[1].description, "toys has no tool get_toyz. Did you mean get_toy?");
    assert!(problems[2].description.starts_with("no such value: dta, other; there are data, "));
    assert_eq!(problems[0].tool.as_deref(), Some("get_toy"));
}

#[test]
fn a_broken_edit_is_told_and_the_last_good_template_stays() {
    let data = Data::with(&[("get_toy.md", "a {{ data.x|num }}")]);
    let templates = data.open().unwrap();
    assert_eq!(templates.refresh(), toolwire_engine::registry::SourceHealth::default());
    data.write("get_toy.md", "b {{ data.x|num }");
    assert_eq!(templates.refresh().problems.len(), 1);
    assert_eq!(render(&templates, json!({"x": 5})), "a 5");
    data.write("get_toy.md", "c {{ data.x|num }}");
    assert_eq!(templates.refresh().problems, []);
    assert_eq!(render(&templates, json!({"x": 5})), "c 5");
}

#[test]
fn a_template_includes_nothing_and_ends() {
    for wrong in ["{% include 'x' %}", "{% import 'x' as y %}", "{% macro x() %}{% endmacro %}"] {
        let Problems(problems) = Data::with(&[("get_toy.md", wrong)]).open().unwrap_err();
        assert_eq!(problems[0].rule, "bad-template", "{wrong}");
    }
    let endless = "{% for a in data.x %}{% for b in data.x %}{% for c in data.x %}.{% endfor %}{% endfor %}{% endfor %}";
    let templates = Data::with(&[("get_toy.md", endless)]).open().unwrap();
    let item = ContextItem { data: json!({"x": vec![0; 1000]}), ..item() };
    let rendered = templates.render(&Values { item: &item, title: "Toy", arguments: &Map::new() }).unwrap();
    assert_eq!(rendered.unwrap_err().kind(), minijinja::ErrorKind::OutOfFuel);
}

fn item() -> ContextItem {
    ContextItem {
        tool: "get_toy".to_owned(),
        call_id: String::new(),
        source_ids: Vec::new(),
        as_of: String::new(),
        kind: String::new(),
        data: Value::Null,
    }
}

#[test]
fn text_from_outside_is_never_markdown_whether_it_is_quoted_or_not() {
    let templates = Data::with(&[("get_toy.md", "{{ data.x }} {{ data.x|quote }} {{ data.y }} {{ cite }}")]);
    let text = "![a](https://e.f) [tool:x:v1] <b>\n# c";
    let shown = render(&templates.open().unwrap(), json!({"x": text, "y": null}));
    let safe = "\\!\\[a\\](https://e.f) \\[tool:x:v1\\] \\<b> # c";
    assert_eq!(shown, format!("{safe} {safe} n/a [tool:toys:v1]"));
    let long = render(&templates.open().unwrap(), json!({"x": "word ".repeat(1000), "y": 1}));
    assert!(long.chars().count() < 2 * 400 + 40);
    let unescaped = "{# a|b #}{{ 'c|d' }}{% if data.x %}\n{% for y in data.x|length|safe %}";
    let unescaped = format!("{unescaped}{{% endfor %}}{{% endif %}}");
    let Problems(problems) = Data::with(&[("get_toy.md", &unescaped)]).open().unwrap_err();
    assert_eq!(problems[0].description, "line 2: no such filter: safe");
}

#[test]
fn filters_show_values_for_people() {
    let text = "{{ data.n|num }} {{ data.n|num(1) }} {{ data.n|money('USD') }} {{ data.n|money('INR', 0, signed=true) }} \
                {{ data.p|pct(signed=true) }} {{ data.d|date }}; {{ data.t|date }}; {{ none|num }} {{ data.u|link }}\
                {{ data.bad|link }}";
    let templates = Data::with(&[("get_toy.md", text)]).open().unwrap();
    let data = json!({"n": 123_456.75, "p": -1.5, "d": "2026-01-15", "t": "2026-01-14T15:42:00Z", "u": "https://a.b/c",
                      "bad": "javascript:x"});
    let expected = "123,456.75 123,456.8 $123,456.75 +₹1,23,457 -1.5% 15 January 2026; 14 January 2026, 15:42 UTC; n/a \
                    <https://a.b/c>";
    assert_eq!(render(&templates, data), expected);
}

#[test]
fn the_rest_of_a_list_is_said_with_its_source() {
    let templates =
        Data::with(&[("get_toy.md", "{{ data.x|rest(2) }}|{{ data.y|rest(2) }}")]).open().unwrap();
    let shown = render(&templates, json!({"x": [1, 2, 3], "y": [1, 2]}));
    assert_eq!(shown, "The first two of 3 are shown [tool:toys:v1].|");
}
