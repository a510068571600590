//! Lists that are odd or have no end.

use serde_json::{Value, json};
use toolwire_providers::bounds::MAX_OFFERS;

use super::fake::{Asked, Fake, raw, tool};
use crate::upstream::list_once;

async fn listed(page: impl Fn(&Asked) -> Value + Send + Sync + 'static) -> Vec<String> {
    let fake = Fake::start(move |asked| asked.is("tools/list").then(|| asked.result(&page(asked)))).await;
    let listed = list_once(&fake.target()).await.expect("lists");
    listed.into_iter().map(|it| it.name).collect()
}

fn number(asked: &Asked) -> usize {
    asked.params["cursor"].as_str().map_or(0, |it| it.parse().expect("a number"))
}

#[tokio::test]
async fn a_list_is_cut_where_it_repeats() {
    let one_cursor = |_: &Asked| json!({"tools": [tool("a"), tool("b")], "nextCursor": "again"});
    assert_eq!(listed(one_cursor).await, ["a", "b"]);
    let new_cursors =
        |asked: &Asked| json!({"tools": [tool("a")], "nextCursor": (number(asked) + 1).to_string()});
    assert_eq!(listed(new_cursors).await, ["a"]);
    let circle = |asked: &Asked| {
        let at = number(asked);
        json!({"tools": [tool(&format!("t{at}"))], "nextCursor": ((at + 1) % 3).to_string()})
    };
    assert_eq!(listed(circle).await, ["t0", "t1", "t2"]);
    let nothing = |asked: &Asked| json!({"tools": [], "nextCursor": (number(asked) + 1).to_string()});
    assert!(listed(nothing).await.is_empty());
    for end in [json!(""), json!(null), json!(7)] {
        let ends = move |_: &Asked| json!({"tools": [tool("a")], "nextCursor": end});
        assert_eq!(listed(ends).await, ["a"]);
    }
}

#[tokio::test]
async fn of_a_list_without_an_end_as_much_as_is_taken_is_served() {
    let endless = |asked: &Asked| {
        let at = number(asked);
        let tools: Vec<_> = (0..70).map(|it| tool(&format!("t{at}_{it}"))).collect();
        json!({"tools": tools, "nextCursor": (at + 1).to_string()})
    };
    assert_eq!(listed(endless).await.len(), MAX_OFFERS);
}

#[tokio::test]
async fn an_odd_entry_costs_itself_on_whichever_page() {
    let deep = format!("{}{{}}{}", r#"{"items":"#.repeat(200), "}".repeat(200));
    let fake = Fake::start(move |asked| {
        asked.is("tools/list").then(|| {
            let (at, id) = (number(asked), &asked.id);
            let next = if at == 0 { r#","nextCursor":"1""# } else { "" };
            let odd = format!(r#"{{"name":"deep","inputSchema":{deep}}}"#);
            let others = [json!({"name": "bad", "inputSchema": 7}), tool(&format!("t{at}")), Value::Null];
            let others = others.map(|it| it.to_string()).join(",");
            let page =
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{odd},{others}]{next}}}}}"#);
            raw(200, "application/json", page)
        })
    })
    .await;
    let listed = list_once(&fake.target()).await.expect("lists");
    assert_eq!(listed.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["t0", "t1"]);
}
