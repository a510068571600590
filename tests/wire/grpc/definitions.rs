//! What is listed, described and watched.

use toolwire::config::AuthUser;

use super::*;

#[tokio::test]
async fn a_schema_comes_in_the_form_that_the_view_names() {
    let server = Server::start();
    let mut client = server.tools().await;
    let mut get = async |view: ToolView| {
        let request = GetToolRequest { name: "get_quotes".to_owned(), view: view.into() };
        definition(&client.get_tool(request).await.expect("answers").into_inner().tool)
    };
    let (basic, full, json) =
        (get(ToolView::Basic).await, get(ToolView::Full).await, get(ToolView::FullJson).await);
    assert!(basic.input_schema.is_none() && basic.input_schema_json.is_empty());
    assert!(full.input_schema_json.is_empty() && json.input_schema.is_none());
    let text: Value = serde_json::from_str(&json.input_schema_json).expect("JSON");
    assert_eq!(Value::Object(from_struct(full.input_schema.clone().expect("a structure"))), text);
    assert_eq!(get(ToolView::Unspecified).await, full);
    assert!(basic.digest == full.digest && full.digest == json.digest);
}

#[tokio::test]
async fn a_listing_is_sorted_filtered_and_complete() {
    let server = Server::start();
    let mut client = server.tools().await;
    let mut list = async |request: ListToolsRequest| -> Vec<_> {
        let stream = client.list_tools(request).await.expect("answers").into_inner();
        stream.map(|message| definition(&message.expect("no status").tool)).collect().await
    };
    let all = list(ListToolsRequest::default()).await;
    let names: Vec<_> = all.iter().map(|tool| tool.name.clone()).collect();
    assert!(names.is_sorted(), "{names:?}");
    let manifests = domains::bundled();
    let manifests = manifests.iter().flat_map(|it| it.data.paths());
    let is_manifest = |path: &&str| ["tools/", "diagnostics/"].iter().any(|folder| path.starts_with(folder));
    assert_eq!(names.len(), manifests.filter(is_manifest).count());
    assert!(all.iter().all(|tool| tool.digest.len() == 64 && tool.input_schema.is_some()));
    let writes = ListToolsRequest {
        category: ToolCategory::Write.into(),
        tags: vec!["diagnostics".to_owned()],
        ..Default::default()
    };
    assert_eq!(
        list(writes).await.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(),
        ["debug_confirm", "debug_confirm_nested", "debug_write"]
    );
    let found = list(ListToolsRequest {
        text: "ROTH".to_owned(),
        view: ToolView::Basic.into(),
        ..Default::default()
    });
    let found = found.await;
    assert_eq!(found.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["get_facts"]);
    assert!(found[0].input_schema.is_none() && !found[0].description.is_empty());
    // Every word counts, and so does every tag.
    let cases: [(&str, &[&str], &[&str]); 4] = [
        ("averaging ROTH", &[], &["get_facts"]),
        ("ROTH xylophone", &[], &[]),
        ("", &["market", "brokerage"], &["get_quotes"]),
        ("", &["market", "education"], &[]),
    ];
    for (text, tags, expected) in cases {
        let (text, tags) = (text.to_owned(), tags.iter().map(ToString::to_string).collect());
        let found = list(ListToolsRequest { text, tags, ..Default::default() }).await;
        assert_eq!(found.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), expected);
    }
    let tagged = list(ListToolsRequest { tags: vec!["diagnostics".to_owned()], ..Default::default() }).await;
    let diagnostics = domains::bundled().into_iter().find(|it| it.name == "diagnostics").expect("bundled");
    assert_eq!(tagged.len(), diagnostics.tools.len());
}

#[tokio::test]
async fn one_definition_a_planner_text_and_limits_can_be_asked_for() {
    let server = Server::start();
    let mut client = server.tools().await;
    let request = GetToolRequest { name: "get_quotes".to_owned(), ..Default::default() };
    let tool = definition(&client.get_tool(request).await.expect("known").into_inner().tool);
    assert_eq!(tool.typed_method, "toolwire.brokerage.v1.BrokerageService/GetQuotes");
    let status = client
        .get_tool(GetToolRequest { name: "get_quote".to_owned(), ..Default::default() })
        .await
        .unwrap_err();
    assert_status(&status, Code::NotFound, "UNKNOWN_TOOL");

    let text = client.describe_for_planner(DescribeForPlannerRequest::default()).await.expect("answers");
    let tools = String::from_utf8(text.into_inner().tools.into()).expect("a text");
    assert!(tools.lines().all(|line| line.starts_with("- ")) && tools.contains("- get_quotes: "), "{tools}");
    let request = DescribeForPlannerRequest { with_parameters: true, ..Default::default() };
    let text = client.describe_for_planner(request).await.expect("answers");
    let tools = String::from_utf8(text.into_inner().tools.into()).expect("a text");
    let expected = "\n  Parameters: timeframe (required): one of \"1D\", \"1W\"";
    assert!(tools.contains(expected), "{tools}");
    let none = DescribeForPlannerRequest { tags: vec!["nothing".to_owned()], ..Default::default() };
    let none = client.describe_for_planner(none).await.expect("answers").into_inner();
    assert_eq!(none.tools, "No tools are currently available.");

    let limits = client.get_limits(GetLimitsRequest::default()).await.expect("answers").into_inner().limits;
    let sources: Vec<_> = limits.iter().map(|limit| limit.source.as_str()).collect();
    assert_eq!(sources, ["brokerage", "news", "nse", "reddit", "screener", "search", "valuepickr", "yahoo"]);
    assert!(limits.iter().all(|limit| limit.can_make_request && limit.cool_down_until.is_none()));
    assert!(limits[0].policy.is_none(), "files refuse nobody");
    assert!(limits[1..].iter().all(|limit| limit.policy.is_some()));
    let status = client.get_limits(GetLimitsRequest { source: "nowhere".to_owned() }).await.unwrap_err();
    assert_status(&status, Code::InvalidArgument, "INVALID_REQUEST");
}

/// Nor of the source of a tool that the user may not call, nor of what is wrong with its manifest.
#[tokio::test]
async fn a_user_is_told_of_no_tool_that_the_user_may_not_call() {
    let directory = crate::support::data_directory();
    let mut config = config();
    config.data.dir = Some(directory.path().to_owned());
    let mut riley = AuthUser::new("riley".parse().expect("a user"), "a-long-enough-t0ken".into());
    riley.tools = vec!["get_f*".to_owned().try_into().expect("a pattern")];
    config.auth.users = vec![riley];
    let server = Server::with(config);
    let mut client = server.tools().await;
    let listed = client.list_tools(with_token(ListToolsRequest::default())).await.expect("answers");
    let listed = listed.into_inner().map(|tool| definition(&tool.expect("no status").tool).name);
    let listed: Vec<_> = listed.collect().await;
    assert!(listed.contains(&"get_facts".to_owned()), "{listed:?}");
    assert!(listed.iter().all(|name| name.starts_with("get_f")), "{listed:?}");
    let guidance = client.describe_for_planner(with_token(DescribeForPlannerRequest::default())).await;
    let guidance = guidance.expect("answers").into_inner();
    let tools = String::from_utf8(guidance.tools.into()).expect("a text");
    assert_eq!(tools.lines().count(), listed.len(), "{tools}");
    assert!(tools.lines().all(|line| line.starts_with("- get_f")), "{tools}");
    let limits = client.get_limits(with_token(GetLimitsRequest::default())).await.expect("answers");
    let sources = limits.into_inner().limits.into_iter().map(|limit| limit.source).collect::<Vec<_>>();
    assert!(
        sources.contains(&"brokerage".to_owned()) && !sources.contains(&"news".to_owned()),
        "{sources:?}"
    );
    let foreign = GetLimitsRequest { source: "news".to_owned() };
    let refused = client.get_limits(with_token(foreign)).await.expect_err("it is of tools of others");
    assert_status(&refused, Code::InvalidArgument, "INVALID_REQUEST");

    let watch = client.watch_tools(with_token(WatchToolsRequest::default())).await.expect("answers");
    let mut watch = watch.into_inner();
    save(&directory.path().join("tools/get_news.json"), "{");
    save(&directory.path().join("tools/get_facts.json"), "{");
    let problems = loop {
        let event = watch.message().await.expect("no status").expect("no end");
        if event.r#type() == WatchEventType::Problem {
            break event.problems;
        }
        let told = (!event.tool.is_empty()).then(|| definition(&event.tool).name);
        assert!(told.is_none_or(|name| name.starts_with("get_f")), "of another's tool");
    };
    let files: Vec<_> = problems.iter().map(|problem| problem.file.as_str()).collect();
    assert_eq!(files, ["tools/get_facts.json"]);
}

fn with_token<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("authorization", "Bearer a-long-enough-t0ken".parse().expect("a value"));
    request
}

#[tokio::test]
async fn edits_are_seen_by_the_next_call_and_by_watchers_and_broken_files_change_nothing_else() {
    let directory = crate::support::data_directory();
    let mut config = config();
    config.data.dir = Some(directory.path().to_owned());
    let server = Server::with(config);
    let mut watch =
        server.tools().await.watch_tools(WatchToolsRequest::default()).await.expect("answers").into_inner();
    let mut next = async |wanted: WatchEventType| loop {
        let event = watch.message().await.expect("no status").expect("no end");
        if event.r#type() == wanted {
            return event;
        }
    };
    next(WatchEventType::Synced).await;
    let price = async || {
        let result = called(&server, call("get_quotes", json!({"symbol": "AAPL"}))).await.expect("a result");
        data(result)["quotes"][0]["price"].clone()
    };
    assert_eq!(price().await, 193.12);

    let master = directory.path().join("brokerage/user_master.json");
    let good = fs::read_to_string(&master).expect("readable");
    save(&master, &good.replace("193.12", "200.5"));
    // The very next call, without waiting for any event.
    assert_eq!(price().await, 200.5);
    assert_eq!(next(WatchEventType::DataChanged).await.data_digest.len(), 64);

    let manifest = directory.path().join("tools/get_quotes.json");
    patch_json(&manifest, &json!({"title": "Prices"}));
    assert_eq!(definition(&next(WatchEventType::Changed).await.tool).title, "Prices");

    save(&master, "{");
    let problems = next(WatchEventType::Problem).await.problems;
    assert!(problems[0].file.ends_with("user_master.json"), "{problems:?}");
    assert_eq!(price().await, 200.5);
    patch_json(&manifest, &json!({"titel": "x"}));
    let problems = next(WatchEventType::Problem).await.problems;
    assert!(problems.iter().any(|problem| problem.pointer == "/titel"), "{problems:?}");
    assert_eq!(price().await, 200.5);

    // Fixed: said as well. A tool on which others depend cannot go; another can.
    save(&master, &good);
    fs::remove_file(directory.path().join("tools/get_facts.json")).expect("removed");
    remove_key(&manifest, "titel");
    assert_eq!(definition(&next(WatchEventType::Removed).await.tool).name, "get_facts");
    let guidance = server.tools().await.describe_for_planner(DescribeForPlannerRequest::default()).await;
    let tools = String::from_utf8(guidance.expect("answers").into_inner().tools.into()).expect("a text");
    assert!(tools.contains("- get_quotes: ") && !tools.contains("- get_facts: "), "{tools}");
    assert_eq!(price().await, 193.12);
}

fn remove_key(path: &std::path::Path, key: &str) {
    let mut value: Value = serde_json::from_str(&fs::read_to_string(path).expect("readable")).expect("JSON");
    value.as_object_mut().expect("an object").remove(key);
    save(path, &value.to_string());
}
