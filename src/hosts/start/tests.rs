//! What a host learns of the caller.

use std::time::Duration;

use super::*;
use toolwire_base::clock;
use toolwire_tool::context::{Attributes, User};

fn sent(is_shared: bool) -> v1::ToolContext {
    let spec = testing::spec("weather", Effect::Read);
    let user = User {
        email: Some("riley@example.com".into()),
        role: Some("clerk".into()),
        ..User::new("riley".parse().expect("a user id"))
    };
    let mut context = ToolContext::new(user, clock::now() + Duration::from_mins(1));
    context.task_id = Some("t-1".parse().expect("a label"));
    context.session_id = Some("s-1".parse().expect("a session"));
    context.attributes = Attributes::new([("tenant".to_owned(), "a".to_owned())]).expect("few");
    let call = Call::new(&spec, &context, Map::new()).expect("short");
    let (start, _incoming) = Start::new(&call, "d1", is_shared);
    start.message.context.expect("a context")
}

#[test]
fn a_result_that_answers_every_user_is_made_for_none() {
    let own = sent(false);
    assert_eq!((own.user_id.as_str(), own.user_email.as_str()), ("riley", "riley@example.com"));
    assert_eq!(
        (own.user_role.as_str(), own.task_id.as_str(), own.session_id.as_str()),
        ("clerk", "t-1", "s-1")
    );
    assert_eq!(own.attributes.len(), 1);
    let shared = sent(true);
    assert_ne!(shared.call_id, "");
    assert_eq!(shared, v1::ToolContext { call_id: shared.call_id.clone(), ..v1::ToolContext::default() });
}
