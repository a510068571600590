//! Questions with their answers, and random ones against a naive evaluation.

use proptest::{collection::vec, option, prelude::*};
use serde_json::json;

use super::*;

const SALES: &str = "region,month,revenue,note\nEMEA,2024-01-31,0.1,first\nAPAC,2024-01-31,5,\nEMEA,2024-02-29,0.2,Second \
                     half\nAMER,2024-02-29,,none\nEMEA,2024-03-31,10,\n";

fn ask(mime: &str, text: &str, question: &Question) -> Result<Answer, AskError> {
    answer(mime, text.as_bytes(), question, &|| false)
}

fn column(name: &str) -> Pick {
    Pick { column: Some(name.to_owned()), function: None }
}

fn of(word: &str, name: &str) -> Pick {
    Pick { column: Some(name.to_owned()).filter(|name| !name.is_empty()), function: word.parse().ok() }
}

fn keep(column: &str, word: &str, value: Json) -> Condition {
    Condition { column: column.to_owned(), operator: word.parse().unwrap(), value }
}

#[track_caller]
fn assert_rows(question: &Question, rows: &Json) {
    let answer = ask("text/csv", SALES, question).unwrap();
    assert_eq!(json!(answer.rows), *rows, "{answer:?}");
}

#[test]
fn a_question_of_nothing_gets_the_shape_of_the_table() {
    let answer = ask("text/csv", &format!("{SALES}{SALES}"), &Question::default()).unwrap();
    let kinds: Vec<_> = answer.columns.iter().map(|(name, kind)| (name.as_str(), kind.into_str())).collect();
    assert_eq!(kinds, [("region", "text"), ("month", "text"), ("revenue", "text"), ("note", "text")]);
    let answer = ask("text/csv", SALES, &Question::default()).unwrap();
    let kinds: Vec<_> = answer.columns.iter().map(|(name, kind)| (name.as_str(), kind.into_str())).collect();
    assert_eq!(kinds, [("region", "text"), ("month", "date"), ("revenue", "decimal"), ("note", "text")]);
    assert_eq!(
        (answer.rows.len(), answer.rows_total, answer.rows_scanned, answer.truncated),
        (5, 5, 5, false)
    );
    assert_eq!(json!(answer.rows[3]), json!(["AMER", "2024-02-29", null, "none"]));
    assert!(answer.hint.contains("select"), "{}", answer.hint);
}

#[test]
fn sums_are_exact_and_groups_stand_in_the_order_of_the_table() {
    let select = vec![column("region"), of("sum", "revenue"), of("count", ""), of("count", "revenue")];
    let question = Question { select, group_by: vec!["region".to_owned()], ..Question::default() };
    assert_rows(&question, &json!([["EMEA", 10.3, 3, 3], ["APAC", 5, 1, 1], ["AMER", null, 1, 0]]));
    let order_by = vec![Order { by: of("sum", "revenue"), descending: false }];
    let sorted = Question { order_by, limit: Some(2), ..question };
    assert_rows(&sorted, &json!([["APAC", 5, 1, 1], ["EMEA", 10.3, 3, 3]]));
    let answer = ask("text/csv", SALES, &sorted).unwrap();
    assert_eq!(
        (answer.rows_total, answer.truncated, answer.columns[1].0.as_str()),
        (3, true, "sum(revenue)")
    );
    let counts = Question { group_by: vec!["month".to_owned()], ..Question::default() };
    assert_rows(&counts, &json!([["2024-01-31", 2], ["2024-02-29", 2], ["2024-03-31", 1]]));
}

#[test]
fn functions_without_groups_are_of_all_rows_that_pass() {
    let select = vec![of("avg", "revenue"), of("min", "month"), of("max", "region"), of("count", "")];
    let question = Question { select, ..Question::default() };
    assert_rows(&question, &json!([[3.825, "2024-01-31", "EMEA", 5]]));
    let filter = vec![keep("region", "eq", json!("nowhere"))];
    assert_rows(&Question { filter, ..question }, &json!([[null, null, null, 0]]));
    let thirds =
        ask("text/csv", "a\n1\n0\n0\n", &Question { select: vec![of("avg", "a")], ..Question::default() });
    assert_eq!(json!(thirds.unwrap().rows), json!([[0.333_333_333_333_333]]));
}

#[test]
fn rows_are_kept_by_every_condition() {
    for (filter, rows) in [
        (vec![keep("revenue", "gt", json!(0.1))], json!([["APAC"], ["EMEA"], ["EMEA"]])),
        (vec![keep("revenue", "le", json!("0.20"))], json!([["EMEA"], ["EMEA"]])),
        (vec![keep("revenue", "ne", json!(5))], json!([["EMEA"], ["EMEA"], ["EMEA"]])),
        (vec![keep("revenue", "is_null", json!(true))], json!([["AMER"]])),
        (
            vec![keep("note", "is_null", json!(false)), keep("region", "eq", json!("EMEA"))],
            json!([["EMEA"], ["EMEA"]]),
        ),
        (vec![keep("month", "ge", json!("2024-02-29T00:00:00Z"))], json!([["EMEA"], ["AMER"], ["EMEA"]])),
        (vec![keep("month", "lt", json!("2024-02-01"))], json!([["EMEA"], ["APAC"]])),
        (vec![keep("note", "contains", json!("SECOND"))], json!([["EMEA"]])),
        (vec![keep("region", "in", json!(["APAC", "AMER"]))], json!([["APAC"], ["AMER"]])),
        (vec![keep("revenue", "in", json!([10.0, "5.00"]))], json!([["APAC"], ["EMEA"]])),
    ] {
        assert_rows(&Question { select: vec![column("region")], filter, ..Question::default() }, &rows);
    }
}

#[test]
fn rows_are_sorted_with_nothing_last_either_way() {
    let order = |descending| vec![Order { by: column("revenue"), descending }];
    let question = |descending| Question {
        select: vec![column("revenue")],
        order_by: order(descending),
        ..Question::default()
    };
    assert_rows(&question(false), &json!([[0.1], [0.2], [5], [10], [null]]));
    assert_rows(&question(true), &json!([[10], [5], [0.2], [0.1], [null]]));
    let first = Question { limit: Some(1), select: Vec::new(), ..question(true) };
    assert_rows(&first, &json!([["EMEA", "2024-03-31", 10, null]]));
}

#[test]
fn what_cannot_be_asked_is_told_with_what_can() {
    let asked = |question: Question| ask("text/csv", SALES, &question).unwrap_err().to_string();
    let select = |pick| Question { select: vec![pick], ..Question::default() };
    let filter = |condition| Question { filter: vec![condition], ..Question::default() };
    let mut grouped = select(column("month"));
    grouped.group_by = vec!["region".to_owned()];
    for (question, expected) in [
        (select(column("revenu")), "there is no column `revenu`. Did you mean revenue?"),
        (select(column("x")), "there is no column `x`"),
        (select(Pick::default()), "name a column: only `count` does without one"),
        (select(of("sum", "")), "name a column: only `count` does without one"),
        (select(of("sum", "region")), "`sum` needs a decimal column, and `region` is text"),
        (
            grouped,
            "`month` is neither in group_by nor in a function: add it there, or use count, sum, avg, min or max of it",
        ),
        (filter(keep("revenue", "gt", json!("much"))), "`gt` of `revenue` needs a number, not \"much\""),
        (
            filter(keep("month", "eq", json!("May"))),
            "`eq` of `month` needs a date, such as 2024-12-31 or 2024-12-31T08:00:00Z, not \"May\"",
        ),
        (filter(keep("region", "eq", json!(null))), "`eq` of `region` needs a text, not null"),
        (filter(keep("region", "in", json!("EMEA"))), "`in` of `region` needs a list, not \"EMEA\""),
        (filter(keep("region", "contains", json!(1))), "`contains` of `region` needs a text, not 1"),
        (filter(keep("region", "is_null", json!(1))), "`is_null` of `region` needs true or false, not 1"),
    ] {
        assert_eq!(asked(question), expected);
    }
}

#[test]
fn documents_that_are_not_tables_say_so() {
    let read = |mime: &str, text: &[u8]| {
        answer(mime, text, &Question::default(), &|| false).map(|_| ()).unwrap_err()
    };
    let not_a_table = |mime: &str, text: &[u8]| matches!(read(mime, text), AskError::NotATable(_));
    assert!(
        not_a_table("text/markdown", b"a,b")
            && not_a_table("text/csv", b"")
            && not_a_table("text/csv", b"a\n\xff")
    );
    assert!(
        not_a_table("application/json", b"{\"a\": 1}")
            && not_a_table("application/json", b"[1")
            && not_a_table("application/json", b"[]")
    );
    let line = read("application/x-ndjson", b"{\"a\": 1}\n\n{a\n");
    assert!(line.to_string().contains("line 3 is not JSON"), "{line}");
    assert_eq!(read("text/csv", &vec![b'\n'; MAX_DOCUMENT_BYTES + 1]), AskError::TooLarge);
    let wide = vec!["a"; bounds::MAX_COLUMNS + 1].join(",");
    assert_eq!(read("text/csv", wide.as_bytes()), AskError::TooMany);
    let keys: Vec<_> = (0..=bounds::MAX_COLUMNS).map(|number| format!("\"{number}\": 1")).collect();
    assert_eq!(read("application/json", format!("[{{{}}}]", keys.join(",")).as_bytes()), AskError::TooMany);
    let late = answer("text/csv", SALES.as_bytes(), &Question::default(), &|| true);
    assert_eq!(late, Err(AskError::Late));
}

#[test]
fn ragged_rows_are_read_and_counted() {
    let answer = ask("text/csv", "a,b,a,\n1\n1,2,3,4,5\n1,2,3,4\n", &Question::default()).unwrap();
    let names: Vec<_> = answer.columns.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a", "b", "a_2", "column_4"]);
    assert_eq!(json!(answer.rows), json!([[1, null, null, null], [1, 2, 3, 4], [1, 2, 3, 4]]));
    assert!(answer.warnings[0].starts_with("2 rows have fewer or more cells"), "{:?}", answer.warnings);
}

#[test]
fn json_is_a_table_of_its_objects() {
    let rows =
        json!([["1", 2, null], [null, null, "{\"d\":[true,null,\"e\"],\"f\":{}}"], [null, -1.5, "[]"]]);
    let text =
        r#"[{"a": "1", "b": 2}, {"c": {"d": [true, null, "e"], "f": {}}}, {"b": -1.5, "a": null, "c": []}]"#;
    let mut expected = rows;
    expected[0][0] = json!(1);
    assert_eq!(json!(ask("application/json", text, &Question::default()).unwrap().rows), expected);
    let lines = ask("application/x-ndjson", "{\"a\": true}\n7\n", &Question::default()).unwrap();
    assert_eq!(json!(lines.rows), json!([["true", null], [null, 7]]));
    assert_eq!(lines.columns, [("a".to_owned(), Kind::Text), ("value".to_owned(), Kind::Decimal)]);
}

#[test]
fn what_looks_like_a_number_is_one_only_if_nothing_is_lost() {
    for (cell, number) in [
        ("1.50", json!(1.5)),
        ("-0.25", json!(-0.25)),
        (".5", json!(0.5)),
        ("1e3", json!(1000)),
        ("12345678901234567890.5", json!("12345678901234567890.5")),
        ("007", json!("007")),
        ("1,5", json!("1,5")),
        ("1_000", json!("1_000")),
        ("NaN", json!("NaN")),
        ("1e999999", json!("1e999999")),
        ("12345678901234567890123456789012", json!("12345678901234567890123456789012")),
    ] {
        let answer = ask("text/csv", &format!("a\n\"{cell}\"\n"), &Question::default()).unwrap();
        assert_eq!(json!(answer.rows), json!([[number]]), "{cell}");
    }
    let sum = Question { select: vec![of("sum", "a")], ..Question::default() };
    let huge = "a\n79228162514264337593543950335\n1\n";
    assert_eq!(ask("text/csv", huge, &sum), Err(AskError::Overflow("a".to_owned())));
}

#[test]
fn an_answer_keeps_its_bounds() {
    let text = format!("a,b\n{}", "1,x\n".repeat(3_000));
    let question = Question { select: vec![column("b")], limit: Some(5_000), ..Question::default() };
    let answer = ask("text/csv", &text, &question).unwrap();
    assert_eq!((answer.rows.len(), answer.rows_total, answer.truncated), (MOST_SHOWN, 3_000, true));
    let text = format!("a\n{}", format!("{}\n", "x".repeat(300_000)).repeat(5));
    let answer = ask("text/csv", &text, &Question { limit: Some(5), ..Question::default() }).unwrap();
    assert_eq!((answer.rows.len(), answer.truncated, answer.hint.is_empty()), (3, true, false));
}

/// A row: a small number or nothing, and a letter.
type Row = (Option<i8>, u8);

/// Sums by letter of the numbers above a bound, the naive way: greatest first, then in the order of the table.
fn naive(rows: &[Row], above: i8) -> Vec<Json> {
    let mut sums: Vec<(u8, i64, u64)> = Vec::new();
    for (number, letter) in rows {
        let Some(number) = number.filter(|number| *number > above) else { continue };
        match sums.iter_mut().find(|(other, ..)| other == letter) {
            Some((_, sum, count)) => (*sum, *count) = (*sum + i64::from(number), *count + 1),
            None => sums.push((*letter, i64::from(number), 1)),
        }
    }
    sums.sort_by_key(|(_, sum, _)| -sum);
    sums.iter().map(|(letter, sum, count)| json!([char::from(*letter).to_string(), sum, count])).collect()
}

proptest! {
    #[test]
    fn groups_are_those_of_a_naive_evaluation(
        rows in vec((option::of(any::<i8>()), b'a'..b'f'), 1..60), above in any::<i8>(), limit in 1_usize..8,
    ) {
        let cell = |number: Option<i8>| number.map(|number| number.to_string()).unwrap_or_default();
        let lines: Vec<_> = rows.iter().map(|(number, letter)| format!("{},{}\n", cell(*number), char::from(*letter))).collect();
        // A first number, so that the column is one of numbers whatever comes; it never passes.
        let text = format!("n,l\n-128,z\n{}", lines.concat());
        let question = Question {
            select: vec![column("l"), of("sum", "n"), of("count", "n")],
            filter: vec![keep("n", "gt", json!(above))],
            group_by: vec!["l".to_owned()],
            order_by: vec![Order { by: of("sum", "n"), descending: true }],
            limit: Some(limit),
        };
        let answer = ask("text/csv", &text, &question).unwrap();
        let expected = naive(&rows, above);
        prop_assert_eq!(answer.rows_total, expected.len() as u64);
        let rows: Vec<_> = answer.rows.into_iter().map(Json::from).collect();
        prop_assert_eq!(rows, expected.into_iter().take(limit).collect::<Vec<_>>());
    }

    #[test]
    fn sorted_rows_are_those_of_a_naive_evaluation(rows in vec(any::<i8>(), 1..60), limit in 1_usize..70) {
        let text = format!("n\n{}", rows.iter().map(|number| format!("{number}\n")).collect::<Vec<_>>().concat());
        let order_by = vec![Order { by: column("n"), descending: true }];
        let answer = ask("text/csv", &text, &Question { order_by, limit: Some(limit), ..Question::default() }).unwrap();
        let mut expected = rows;
        expected.sort_by_key(|number| -i16::from(*number));
        let expected: Vec<_> = expected.into_iter().take(limit).map(|number| vec![json!(number)]).collect();
        prop_assert_eq!(answer.rows, expected);
    }

    #[test]
    fn every_document_is_answered_or_refused(
        bytes in prop_oneof![vec(any::<u8>(), 0..80), "([a1,\"\n;.e\\-{}:\\[\\]]){0,80}".prop_map(String::into_bytes)],
        kind in 0_usize..4,
    ) {
        let mime = ["text/csv", "text/tab-separated-values", "application/json", "application/x-ndjson"][kind];
        let answered = answer(mime, &bytes, &Question::default(), &|| false);
        prop_assert_eq!(&answered, &answer(mime, &bytes, &Question::default(), &|| false));
        if let Ok(answer) = answered {
            prop_assert!(answer.rows.iter().all(|row| row.len() == answer.columns.len()));
            let names: std::collections::HashSet<_> = answer.columns.iter().map(|(name, _)| name).collect();
            prop_assert_eq!(names.len(), answer.columns.len());
        }
    }
}
