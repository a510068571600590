//! Confirmations of nested calls: passed through, asked for once, and what was finished is not done again.

use super::*;

fn nested(request_id: RequestId) -> CallToolRequest {
    call("debug_confirm_nested", &json!({"value": "x"}), Some(request_id))
}

#[tokio::test]
async fn a_nested_confirmation_passes_through_its_caller_and_the_repeat_finishes_the_rest() {
    let house = House::open();
    let riley = house.person("riley").await;
    let id = RequestId::generate();
    let asked = confirmation(riley.call(nested(id)).await);
    assert_eq!(asked.tool, "debug_confirm");
    assert_eq!(asked.path, ["debug_confirm_nested", "debug_confirm"]);
    assert_eq!(asked.request_id, id.to_string(), "the outermost call is to be made again");
    assert_eq!(confirmation(riley.call(nested(id)).await).confirmation_id, asked.confirmation_id);
    riley.approve(&asked.confirmation_id).await.unwrap();
    let whole = data(riley.call(nested(id)).await);
    assert_eq!((&whole["first"]["writes"], &whole["second"]["writes"]), (&json!(1), &json!(1)));
    assert_eq!(data(riley.call(nested(id)).await), whole);

    // A second one is another write of each.
    let id = RequestId::generate();
    let asked = confirmation(riley.call(nested(id)).await);
    riley.approve(&asked.confirmation_id).await.unwrap();
    let whole = data(riley.call(nested(id)).await);
    assert_eq!((&whole["first"]["writes"], &whole["second"]["writes"]), (&json!(2), &json!(2)));
}

#[tokio::test]
async fn a_call_waits_for_the_confirmation_of_what_it_calls() {
    let house = House::open();
    let riley = house.person("riley").await;
    let request = waiting("debug_confirm_nested", RequestId::generate(), "x", 60);
    let mut stream = riley.tools.clone().invoke_tool(riley.request(request)).await.unwrap().into_inner();
    let (mut asked, mut result) = (Vec::new(), None);
    while let Some(message) = stream.message().await.unwrap() {
        match message.event.unwrap().event.unwrap() {
            Event::AwaitingConfirmation(it) => {
                riley.approve(&it.confirmation_id).await.unwrap();
                asked.push(it.tool);
            }
            Event::Result(it) => result = it.outcome,
            _ => {}
        }
    }
    assert_eq!(asked, ["debug_confirm"]);
    let whole = data(Ok(came(result)));
    assert_eq!((&whole["first"]["writes"], &whole["second"]["writes"]), (&json!(1), &json!(1)));
}

#[tokio::test]
async fn a_nested_denial_is_the_outcome_of_the_outer_call() {
    let house = House::open();
    let riley = house.person("riley").await;
    let id = RequestId::generate();
    let asked = confirmation(riley.call(nested(id)).await);
    riley.deny(&asked.confirmation_id).await.unwrap();
    for _ in 0..2 {
        assert_eq!(error(riley.call(nested(id)).await).0, ToolErrorCode::ConfirmationDenied);
    }
}

/// The outer call is asked for, used, and then waits for a nested one: its own approval still holds for that call.
#[tokio::test]
async fn a_caller_that_was_approved_itself_is_not_asked_about_twice() {
    let house = House::open();
    let riley = house.person("riley").await;
    let id = RequestId::generate();
    let outer = || CallToolRequest { require_confirmation: true, ..nested(id) };
    let own = confirmation(riley.call(outer()).await);
    assert_eq!(own.tool, "debug_confirm_nested");
    riley.approve(&own.confirmation_id).await.unwrap();
    let inner = confirmation(riley.call(outer()).await);
    assert_eq!(inner.tool, "debug_confirm");
    riley.approve(&inner.confirmation_id).await.unwrap();
    let whole = data(riley.call(outer()).await);
    assert_eq!((&whole["first"]["writes"], &whole["second"]["writes"]), (&json!(1), &json!(1)));
}

/// Each stream is asked about alone, and what has ended is not done again.
#[tokio::test]
async fn of_parallel_streams_those_that_need_one_are_reported_and_finished_ones_do_not_run_again() {
    let house = House::open();
    let riley = house.person("riley").await;
    let calls: Vec<_> = ["debug_write", "debug_confirm", "debug_write", "debug_confirm"]
        .into_iter()
        .enumerate()
        .map(|(index, tool)| InvokeToolRequest {
            wait_for_confirmation: None,
            ..waiting(tool, RequestId::generate(), &index.to_string(), 0)
        })
        .collect();
    let all = async || {
        let streams = calls.iter().map(|request| riley.events(request.clone()));
        let ends = futures_util::future::join_all(streams).await;
        ends.into_iter().map(|mut events| events.pop().unwrap()).collect::<Vec<_>>()
    };
    let ends = all().await;
    let asked: Vec<_> = ends
        .iter()
        .filter_map(|end| match end {
            Event::ConfirmationRequired(it) => Some(it.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(asked.len(), 2, "{ends:?}");
    assert_ne!(asked[0].confirmation_id, asked[1].confirmation_id);
    for it in &asked {
        riley.approve(&it.confirmation_id).await.unwrap();
    }
    let ends = all().await;
    let mut writes = [Vec::new(), Vec::new()];
    for (index, end) in ends.into_iter().enumerate() {
        let Event::Result(result) = end else { panic!("{end:?}") };
        let data = data(Ok(came(result.outcome)));
        assert_eq!(data["value"], index.to_string(), "each stream has its own answer");
        writes[index % 2].push(data["writes"].as_i64().unwrap());
    }
    for mut of_tool in writes {
        of_tool.sort_unstable();
        assert_eq!(of_tool, [1, 2], "each was carried out once");
    }
}
