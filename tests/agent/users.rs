//! Two users: what is somebody else's is unknown, in the same words as what never was.

use toolwire::config::{AuthUser, ToolPattern};

use super::*;

#[tokio::test]
async fn the_turns_and_sessions_of_others_are_unknown() {
    let house = House::new();
    let (riley, sam) = (house.person("riley").await, house.person("sam").await);
    let confirm = json!({"plans": [{"calls": [call("debug_confirm", &json!({"value": "x"}))]}]});
    let waits = riley.chat(within("s", says(&confirm))).await.unwrap().turn_id;
    let ended = riley.reply(within("t", says(&quotes()))).await.turn_id;
    for id in [waits.clone(), ended.clone(), new_id(), "nonsense".to_owned()] {
        let words = format!("no turn {id} of yours");
        assert_eq!(assert_refused(sam.turn(&id).await, Code::NotFound, "UNKNOWN_TURN"), words);
        let cancelled = sam.cancel(Which::TurnId(id.clone())).await;
        assert_eq!(assert_refused(cancelled, Code::NotFound, "UNKNOWN_TURN"), words);
        assert_eq!(assert_refused(sam.chat(resumes(&id)).await, Code::NotFound, "UNKNOWN_TURN"), words);
    }
    assert!(sam.turns("s").await.is_empty());
    assert!(!sam.cancel(Which::SessionId("s".to_owned())).await.unwrap());
    // The same names are others of the other user's.
    let theirs = sam.reply(TurnInput { request_id: ended.clone(), ..within("s", says(&quotes())) }).await;
    assert_eq!(theirs.turn_id, ended);
    assert_eq!((riley.turns("s").await.len(), sam.turns("s").await.len()), (1, 1));
    assert!(riley.turn(&waits).await.is_ok());
}

#[tokio::test]
async fn only_what_the_user_may_call_is_offered_and_called() {
    let pattern = |text: &str| ToolPattern::try_from(text.to_owned()).unwrap();
    let mut user = AuthUser::new("riley".parse().unwrap(), "a-long-enough-t0ken".into());
    user.tools = vec![pattern("get_*")];
    let house = House::with(Mode::Native, |config| config.auth.users = vec![user]);
    let riley = house.person("riley").await;
    let mut request = Request::new(ChatStreamRequest {
        input: Some(says(&json!({"plans": [{"calls": [call("debug_write", &json!({"value": "x"}))]}]}))),
    });
    request.metadata_mut().insert("authorization", "Bearer a-long-enough-t0ken".parse().unwrap());
    let mut stream = riley.agent.clone().chat_stream(request).await.unwrap().into_inner();
    let mut events = Vec::new();
    while let Some(response) = stream.message().await.unwrap() {
        events.push(response.event.unwrap());
    }
    let Some(Event::Started(started)) = &events[0].event else { panic!() };
    let snapshot = house.server.app.registry.snapshot();
    let may = snapshot.tools().filter(|tool| tool.definition.name.as_str().starts_with("get_")).count();
    assert_eq!(started.tools_offered as usize, may);
    assert!(!events.iter().any(|event| matches!(event.event, Some(Event::ToolCallStarted(_)))));
    let refused = answer(last(&events));
    assert!(refused.starts_with("I could not retrieve the data needed to answer."), "{refused}");
}
