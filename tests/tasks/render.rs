//! What a model is shown of a task.

use toolwire::contract::proto::tasks::v1::{
    MessageRole, ModelMessage, RenderForModelRequest, RenderForModelResponse, model_block::Block,
};

use super::*;

async fn render(person: &Person, task: &str, budget: u32) -> Result<RenderForModelResponse, Status> {
    let message = RenderForModelRequest {
        task_id: task.to_owned(),
        token_budget: budget,
        ..RenderForModelRequest::default()
    };
    person.tasks.clone().render_for_model(person.request(message)).await.map(tonic::Response::into_inner)
}

/// A call that was made and one that waits: each has its result, in the order of the calls.
#[tokio::test]
async fn a_model_is_shown_each_call_with_its_result() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Report on Q3 sales").await;
    root.writes("notes.md", b"# Notes\n\nRevenue rose.\n").await;
    root.handle("stop_and_think", &json!({"thoughts": "An analyst can do it"})).await.unwrap();
    let request = json!({"request": "Analyze", "documents": ["notes.md"]});
    let child = root.blocks("route_to_analyst", &request).await;

    let shown = render(&person, &root.task, 0).await.unwrap();
    assert_eq!(render(&person, &root.task, 0).await.unwrap(), shown, "the same to the byte");
    assert!(shown.system.contains("notes.md"), "{}", shown.system);
    let roles: Vec<_> = shown.messages.iter().map(ModelMessage::role).collect();
    assert_eq!(roles[0], MessageRole::User);
    assert!(roles.windows(2).all(|pair| pair[0] != pair[1]), "{roles:?}");
    let blocks =
        || shown.messages.iter().flat_map(|message| &message.blocks).filter_map(|it| it.block.clone());
    let uses: Vec<_> =
        blocks().filter_map(|it| if let Block::ToolUse(it) = it { Some(it) } else { None }).collect();
    let results: Vec<_> =
        blocks().filter_map(|it| if let Block::ToolResult(it) = it { Some(it) } else { None }).collect();
    assert_eq!(
        uses.iter().map(|it| it.tool.as_str()).collect::<Vec<_>>(),
        ["stop_and_think", "route_to_analyst"]
    );
    assert_eq!(
        uses.iter().map(|it| &it.id).collect::<Vec<_>>(),
        results.iter().map(|it| &it.id).collect::<Vec<_>>()
    );
    assert!(results[1].content.contains("→ delegated"), "{}", results[1].content);

    let shown = render(&person, &child, 0).await.unwrap();
    let documents: Vec<_> = shown.messages[0].blocks.iter().filter_map(|it| it.block.clone()).collect();
    let is_whole = |it: &Block| matches!(it, Block::Document(it) if it.text.contains("Revenue rose."));
    assert!(documents.iter().any(is_whole), "{documents:?}");
}

#[tokio::test]
async fn a_budget_is_within_its_bounds_and_holds_what_must_stay() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create(&"Report on sales. ".repeat(1_000)).await;
    let refused = render(&person, &root.task, 1_000).await;
    let message = assert_refused(refused, Code::ResourceExhausted, "BUDGET_TOO_SMALL");
    assert!(message.contains("token_budget must be at least"), "{message}");
    render(&person, &root.task, 60_000).await.unwrap();
    for budget in [1, 999, 500_001] {
        assert_eq!(render(&person, &root.task, budget).await.unwrap_err().code(), Code::InvalidArgument);
    }
    let unknown = format!("task_{:032x}", 7);
    assert_refused(render(&person, &unknown, 0).await, Code::NotFound, "UNKNOWN_TASK");
}

/// What was noted in a tree is shown to all of its tasks, what was noted for a user in every tree of that user's.
#[tokio::test]
async fn what_agents_asked_to_be_remembered_is_shown() {
    let server = server();
    let riley = person(&server, "riley").await;
    let root = riley.create("Report on Q3 sales").await;
    root.handle("save_to_short_term_memory", &json!({"note": "The fiscal year begins in May."}))
        .await
        .unwrap();
    root.handle("save_to_long_term_memory", &json!({"note": "Wants amounts in euros."})).await.unwrap();
    let child = root.blocks("route_to_analyst", &json!({"request": "Analyze"})).await;
    let (tree, user) = (
        "Noted in this work:\n- The fiscal year begins in May.",
        "Noted for this user:\n- Wants amounts in euros.",
    );
    for task in [&root.task, &child] {
        let shown = render(&riley, task, 0).await.unwrap();
        assert!(shown.system.contains(tree) && shown.system.ends_with(user), "{}", shown.system);
        assert_eq!(render(&riley, task, 0).await.unwrap(), shown, "the same to the byte");
    }
    let other = riley.create("Another report").await;
    let system = render(&riley, &other.task, 0).await.unwrap().system;
    assert!(!system.contains("fiscal year") && system.ends_with(user), "{system}");
    let sam = person(&server, "sam").await;
    let foreign = sam.create("A report of sam's").await;
    assert_eq!(render(&sam, &foreign.task, 0).await.unwrap().system, "");
}

/// The newest count, in the order in which they were noted.
#[tokio::test]
async fn of_many_notes_the_newest_fifty_are_shown() {
    let server = server();
    let riley = person(&server, "riley").await;
    let root = riley.create("Report").await;
    for number in 0..52 {
        root.handle("save_to_long_term_memory", &json!({"note": format!("Number {number}.")})).await.unwrap();
    }
    let system = render(&riley, &root.task, 0).await.unwrap().system;
    let lines: Vec<_> = system.lines().filter(|line| line.starts_with("- ")).collect();
    let expected: Vec<_> = (2..52).map(|number| format!("- Number {number}.")).collect();
    assert_eq!(lines, expected);
}

/// An agent that is asked sees what it had said and done until then, and the question after it.
#[tokio::test]
async fn a_question_is_shown_after_the_masters_messages() {
    let server = server();
    let person = person(&server, "riley").await;
    person.create_for("lead", "Report on Q3 sales").await;
    let lead = person.leases("lead").await.unwrap();
    lead.handle("stop_and_think", &json!({"thoughts": "Refunds are booked late."})).await.unwrap();
    lead.blocks("route_to_analyst", &json!({"request": "Analyze Q3 sales"})).await;
    let analyst = person.leases("analyst").await.unwrap();
    analyst.writes("draft.md", b"A draft.\n").await;
    let arguments = json!({"question": "Before or after refunds?", "documents": ["draft.md"]});
    let question = analyst.blocks("ask_master", &arguments).await;

    let shown = render(&person, &question, 0).await.unwrap();
    assert!(shown.system.starts_with("You are the agent with the role lead."), "{}", shown.system);
    let told = format!("{:?}", shown.messages);
    let places: Vec<_> = [
        "Report on Q3 sales",
        "Refunds are booked late.",
        "route_to_analyst",
        "→ delegated",
        "A draft.",
        "Before or after refunds?",
    ]
    .iter()
    .map(|words| told.find(words).unwrap_or_else(|| panic!("{words} in {told}")))
    .collect();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(shown.messages.last().unwrap().role(), MessageRole::User);

    // What it does as the one who is asked comes after that.
    let master = person.leases("lead").await.unwrap();
    master.handle("stop_and_think", &json!({"thoughts": "After, I think."})).await.unwrap();
    let later = render(&person, &question, 0).await.unwrap();
    assert_eq!(later.messages[..shown.messages.len()], shown.messages, "a prompt cache holds");
    assert!(format!("{:?}", later.messages.last().unwrap()).contains("logged"), "{later:?}");
    // The master itself goes on without what it said as the one who was asked.
    let own = format!("{:?}", render(&person, &lead.task, 0).await.unwrap().messages);
    assert!(!own.contains("After, I think.") && !own.contains("Before or after refunds?"), "{own}");
}

/// Who is asked knows who asks, and how to answer.
#[tokio::test]
async fn a_question_is_shown_with_who_asks_and_how_it_is_answered() {
    let server = server();
    let person = person(&server, "riley").await;
    person.create_for("lead", "Report on Q3 sales").await;
    let lead = person.leases("lead").await.unwrap();
    lead.blocks("route_to_analyst", &json!({"request": "Analyze Q3 sales"})).await;
    let analyst = person.leases("analyst").await.unwrap();
    let question = analyst.blocks("ask_master", &json!({"question": "Before or after refunds?"})).await;
    let shown = render(&person, &question, 0).await.unwrap();
    let last = shown.messages.last().unwrap();
    assert_eq!(last.role(), MessageRole::User);
    let texts: Vec<_> = last.blocks.iter().filter_map(|it| it.block.clone()).collect();
    let text = texts.iter().find_map(|it| match it {
        Block::Text(it) if it.contains("Question for you") => Some(it.clone()),
        _ => None,
    });
    let text = text.unwrap_or_else(|| panic!("{texts:?}"));
    assert!(text.starts_with("Question for you from "), "{text}");
    assert!(text.contains("analyst") && text.contains("\n\nBefore or after refunds?\n\n"), "{text}");
    assert!(text.ends_with("Either ends this question, and who asked goes on with it."), "{text}");
}
