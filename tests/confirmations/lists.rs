//! Lists and watches: what each user sees, in which order, and nothing twice.

use tonic::Streaming;
use toolwire::contract::proto::v1::{
    ConfirmationFilter, ConfirmationWatchType, ListConfirmationsRequest, ListConfirmationsResponse,
    WatchConfirmationsRequest, WatchConfirmationsResponse,
};

use super::*;

async fn list(
    person: &Person,
    filter: ConfirmationFilter,
    page_size: i32,
    page_token: &str,
) -> Result<ListConfirmationsResponse, Status> {
    let message =
        ListConfirmationsRequest { filter: Some(filter), page_size, page_token: page_token.to_owned() };
    Ok(person.confirmations.clone().list_confirmations(person.request(message)).await?.into_inner())
}

async fn all(person: &Person, filter: ConfirmationFilter, page_size: i32) -> Vec<String> {
    let (mut ids, mut token) = (Vec::new(), String::new());
    loop {
        let page = list(person, filter.clone(), page_size, &token).await.unwrap();
        ids.extend(page.confirmations.into_iter().map(|it| it.confirmation_id));
        token = page.next_page_token;
        if token.is_empty() {
            return ids;
        }
    }
}

async fn watch(
    person: &Person,
    after_sequence: u64,
) -> Result<Streaming<WatchConfirmationsResponse>, Status> {
    let message = WatchConfirmationsRequest { filter: None, after_sequence };
    Ok(person.confirmations.clone().watch_confirmations(person.request(message)).await?.into_inner())
}

async fn next(stream: &mut Streaming<WatchConfirmationsResponse>) -> WatchConfirmationsResponse {
    stream.message().await.unwrap().expect("a watch does not end")
}

#[tokio::test]
async fn what_is_pending_comes_first_and_every_page_size_gives_the_same_list() {
    let house = House::open();
    let riley = house.person("riley").await;
    let mut ids = Vec::new();
    for number in 0..7 {
        ids.push(riley.asks(RequestId::generate(), &number.to_string()).await.confirmation_id);
    }
    riley.deny(&ids[1]).await.unwrap();
    riley.approve(&ids[4]).await.unwrap();
    let expected: Vec<_> = [0, 2, 3, 5, 6, 4, 1].map(|index: usize| ids[index].clone()).into();
    for page_size in [0, 1, 2, 3, 7, 200] {
        assert_eq!(all(&riley, ConfirmationFilter::default(), page_size).await, expected, "{page_size}");
    }
    let filter = |states: &[ConfirmationState]| ConfirmationFilter {
        states: states.iter().map(|state| (*state).into()).collect(),
        ..Default::default()
    };
    assert_eq!(all(&riley, filter(&[ConfirmationState::Denied]), 2).await, [ids[1].clone()]);
    let decidable = ConfirmationFilter { decidable: true, ..Default::default() };
    assert_eq!(all(&riley, decidable, 2).await, expected[..5]);
    let of_tool = |tool: &str| ConfirmationFilter { tools: vec![tool.to_owned()], ..Default::default() };
    assert_eq!(all(&riley, of_tool("debug_confirm"), 2).await.len(), 7);
    assert!(all(&riley, of_tool("debug_write"), 2).await.is_empty());
}

#[tokio::test]
async fn a_token_is_good_for_its_user_and_filter_only() {
    let house = House::open();
    let (riley, sam) = (house.person("riley").await, house.person("sam").await);
    for person in [&riley, &sam] {
        for _ in 0..3 {
            person.asks(RequestId::generate(), "x").await;
        }
    }
    let token = list(&riley, ConfirmationFilter::default(), 1, "").await.unwrap().next_page_token;
    assert!(list(&riley, ConfirmationFilter::default(), 1, &token).await.is_ok());
    let other = ConfirmationFilter { decidable: true, ..Default::default() };
    for answer in [
        list(&sam, ConfirmationFilter::default(), 1, &token).await,
        list(&riley, other, 1, &token).await,
        list(&riley, ConfirmationFilter::default(), 1, "x").await,
        list(&riley, ConfirmationFilter::default(), -1, "").await,
        list(&riley, ConfirmationFilter::default(), 201, "").await,
        list(&riley, ConfirmationFilter { tools: vec![String::new(); 33], ..Default::default() }, 1, "")
            .await,
        list(&riley, ConfirmationFilter { states: vec![42], ..Default::default() }, 1, "").await,
    ] {
        assert_refused(answer, Code::InvalidArgument, "INVALID_REQUEST");
    }
}

/// Two users see nothing of each other, in lists and in watches; who may approve sees what that is about, who observes
/// everything.
#[tokio::test]
async fn everybody_sees_their_own_and_what_their_rights_are_about() {
    let house = House::with_users();
    house.patch("remove_from_watchlist", &json!({"requires_confirmation": true}));
    let mut ids = Vec::new();
    for caller in ["riley", "sam"] {
        let who = house.person(caller).await;
        ids.push(who.asks(RequestId::generate(), caller).await.confirmation_id);
        let removes = call("remove_from_watchlist", &json!({"symbol": "TCS"}), Some(RequestId::generate()));
        ids.push(confirmation(who.call(removes).await).confirmation_id);
    }
    let seen = [("riley", vec![0, 1]), ("sam", vec![2, 3]), ("alex", vec![0, 2]), ("olga", vec![0, 1, 2, 3])];
    for (name, expected) in seen {
        let expected: Vec<_> = expected.into_iter().map(|index: usize| ids[index].clone()).collect();
        let person = house.person(name).await;
        assert_eq!(all(&person, ConfirmationFilter::default(), 1).await, expected, "{name}");
        let mut stream = watch(&person, 0).await.unwrap();
        let mut watched = Vec::new();
        loop {
            let event = next(&mut stream).await;
            match event.r#type() {
                ConfirmationWatchType::Requested => watched.push(event.confirmation.unwrap().confirmation_id),
                ConfirmationWatchType::Synced => break,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(watched, expected, "{name}");
    }
    let of_riley = ConfirmationFilter { user_id: "riley".to_owned(), ..Default::default() };
    assert!(all(&house.person("sam").await, of_riley.clone(), 5).await.is_empty());
    assert_eq!(all(&house.person("alex").await, of_riley, 5).await, ids[..1]);
}

#[tokio::test]
async fn a_watch_tells_every_change_in_order_and_goes_on_after_any_of_them() {
    let house = House::open();
    let riley = house.person("riley").await;
    let id = RequestId::generate();
    let first = riley.asks(id, "x").await.confirmation_id;
    let mut stream = watch(&riley, 0).await.unwrap();
    let state = next(&mut stream).await;
    assert_eq!((state.r#type(), state.sequence), (ConfirmationWatchType::Requested, 1));
    assert_eq!(next(&mut stream).await.r#type(), ConfirmationWatchType::Synced);
    riley.approve(&first).await.unwrap();
    data(riley.call_confirm(id, "x").await);
    let second = riley.asks(RequestId::generate(), "y").await.confirmation_id;
    riley.deny(&second).await.unwrap();
    let mut told = Vec::new();
    for _ in 0..4 {
        let event = next(&mut stream).await;
        let it = event.confirmation.clone().unwrap();
        told.push((event.sequence, event.r#type(), it.state(), it.confirmation_id));
    }
    let expected = [
        (2, ConfirmationWatchType::Changed, ConfirmationState::Approved, first.clone()),
        (3, ConfirmationWatchType::Changed, ConfirmationState::Used, first),
        (4, ConfirmationWatchType::Requested, ConfirmationState::Pending, second.clone()),
        (5, ConfirmationWatchType::Changed, ConfirmationState::Denied, second),
    ];
    assert_eq!(told, expected);

    for after in 1..=5_u64 {
        let mut again = watch(&riley, after).await.unwrap();
        for expected in &expected[usize::try_from(after).unwrap() - 1..] {
            assert_eq!(next(&mut again).await.sequence, expected.0);
        }
        let synced = next(&mut again).await;
        assert_eq!((synced.r#type(), synced.sequence), (ConfirmationWatchType::Synced, 5));
    }
    let beyond = watch(&riley, 6).await;
    assert_eq!(
        assert_refused(beyond, Code::OutOfRange, "NO_SUCH_SEQUENCE"),
        "after_sequence must be from 0 to 5, or 0 to begin with what is open"
    );
}

#[tokio::test]
async fn who_polls_is_answered_when_it_is_decided() {
    let house = House::open();
    let riley = house.person("riley").await;
    let id = riley.asks(RequestId::generate(), "x").await.confirmation_id;
    let polls = {
        let (riley, id) = (riley.clone(), id.clone());
        tokio::spawn(async move {
            let wait = Some(prost_types::Duration { seconds: 60, nanos: 0 });
            let message = GetConfirmationRequest { confirmation_id: id, wait };
            riley.confirmations.clone().get_confirmation(riley.request(message)).await.unwrap().into_inner()
        })
    };
    riley.deny(&id).await.unwrap();
    assert_eq!(polls.await.unwrap().confirmation.unwrap().state(), ConfirmationState::Denied);
    for bad in [61, -1] {
        let wait = Some(prost_types::Duration { seconds: bad, nanos: 0 });
        let message = GetConfirmationRequest { confirmation_id: id.clone(), wait };
        let answer = riley.confirmations.clone().get_confirmation(riley.request(message)).await;
        assert_refused(answer, Code::InvalidArgument, "INVALID_REQUEST");
    }
}

/// What a user is told of positions and of places in lists, with so many confirmations of somebody else before each of
/// three of their own.
async fn positions(of_others: usize) -> Vec<u64> {
    let house = House::with_users();
    let (riley, sam) = (house.person("riley").await, house.person("sam").await);
    let others = async || {
        for number in 0..of_others {
            sam.asks(RequestId::generate(), &number.to_string()).await;
        }
    };
    let mut told = Vec::new();
    for number in 0..3 {
        others().await;
        let id = riley.asks(RequestId::generate(), &number.to_string()).await.confirmation_id;
        told.push(riley.get(&id).await.unwrap().sequence);
    }
    others().await;
    let mut stream = watch(&riley, 0).await.unwrap();
    for _ in 0..4 {
        told.push(next(&mut stream).await.sequence);
    }
    let mut again = watch(&riley, 2).await.unwrap();
    told.extend([next(&mut again).await.sequence, next(&mut again).await.sequence]);
    told
}

#[tokio::test]
async fn nobody_can_count_what_others_ask_for() {
    let alone = positions(0).await;
    assert_eq!(alone, [1, 2, 3, 1, 2, 3, 3, 3, 3]);
    assert_eq!(positions(5).await, alone);
}
