//! Who did what: a record for each write and each decision, for those who may see it.

use std::time::Duration;

use toolwire::contract::proto::v1::{
    AuditFilter, AuditKind, AuditRecord, AuditVerdict, CancelCallRequest, ListRecordsRequest,
    ListRecordsResponse, cancel_call_request,
};

use super::*;

async fn page(
    person: &Person,
    filter: AuditFilter,
    page_size: i32,
    token: &str,
) -> Result<ListRecordsResponse, Status> {
    let message = ListRecordsRequest { filter: Some(filter), page_size, page_token: token.to_owned() };
    Ok(person.audit.clone().list_records(person.request(message)).await?.into_inner())
}

async fn all(person: &Person, filter: AuditFilter, page_size: i32) -> Vec<AuditRecord> {
    let (mut found, mut token) = (Vec::new(), String::new());
    loop {
        let answer = page(person, filter.clone(), page_size, &token).await.unwrap();
        found.extend(answer.records);
        token = answer.next_page_token;
        if token.is_empty() {
            return found;
        }
    }
}

fn debug_write(value: &str) -> CallToolRequest {
    call("debug_write", &json!({"value": value}), Some(RequestId::generate()))
}

#[tokio::test]
async fn a_write_and_a_decision_are_recorded_with_who_and_what_and_never_with_arguments() {
    let house = House::with_users();
    let (riley, alex) = (house.person("riley").await, house.person("alex").await);
    data(riley.call(debug_write("s3cret-words")).await);
    let id = RequestId::generate();
    let asked = riley.asks(id, "s3cret-words").await;
    alex.approve(&asked.confirmation_id).await.unwrap();
    data(riley.call_confirm(id, "s3cret-words").await);

    let records = all(&riley, AuditFilter::default(), 0).await;
    let [used, decided, wrote] = &records[..] else { panic!("{records:#?}") };
    assert!(records.windows(2).all(|pair| pair[0].sequence > pair[1].sequence), "the newest first");
    assert!(!format!("{records:?}").contains("s3cret-words"), "arguments are never recorded");
    for record in [used, wrote] {
        assert_eq!(
            (record.kind(), record.user_id.as_str(), record.code.as_str()),
            (AuditKind::Write, "riley", "OK")
        );
        assert_eq!(
            (record.known_by.as_str(), record.face.as_str(), record.peer.as_str()),
            ("token", "grpc", "127.0.0.1")
        );
        assert!(
            record.ended_at.is_some() && record.call_id.len() == 36 && record.definition_digest.len() == 64
        );
    }
    assert_eq!(
        (wrote.tool.as_str(), wrote.verdict(), wrote.approver.as_str()),
        ("debug_write", AuditVerdict::Allowed, "")
    );
    assert_eq!(
        (used.tool.as_str(), used.verdict(), used.approver.as_str(), &used.confirmation_id),
        ("debug_confirm", AuditVerdict::Approved, "alex", &asked.confirmation_id)
    );
    assert_eq!(
        (decided.kind(), decided.verdict(), decided.user_id.as_str()),
        (AuditKind::Decision, AuditVerdict::Approved, "alex")
    );
    assert_eq!((decided.caller.as_str(), &decided.confirmation_id), ("riley", &asked.confirmation_id));
    assert_eq!(decided.arguments_digest, used.arguments_digest);
    assert_eq!(decided.on_behalf_of, "chat:42");
    assert_eq!(decided.peer, "", "where others sit is for whoever observes");
    let of_alex = all(&alex, AuditFilter::default(), 0).await;
    assert_eq!(of_alex.len(), 1);
    assert_eq!(of_alex[0].peer, "127.0.0.1");
}

#[tokio::test]
async fn everybody_sees_their_own_and_who_observes_sees_everything() {
    let house = House::with_users();
    for name in ["riley", "sam", "riley"] {
        data(house.person(name).await.call(debug_write(name)).await);
    }
    for (name, expected) in [("riley", 2), ("sam", 1), ("alex", 0), ("olga", 3)] {
        let person = house.person(name).await;
        for page_size in [0, 1, 2] {
            assert_eq!(all(&person, AuditFilter::default(), page_size).await.len(), expected, "{name}");
        }
        let of_sam = AuditFilter { user_id: "sam".to_owned(), ..AuditFilter::default() };
        let expected = usize::from(name == "sam" || name == "olga");
        assert_eq!(all(&person, of_sam, 0).await.len(), expected, "{name}");
    }
}

#[tokio::test]
async fn a_filter_is_of_what_is_asked_for_and_a_token_is_good_for_it_only() {
    let house = House::open();
    let riley = house.person("riley").await;
    let asked = riley.asks(RequestId::generate(), "x").await;
    riley.deny(&asked.confirmation_id).await.unwrap();
    for _ in 0..3 {
        data(riley.call(debug_write("x")).await);
    }
    let of = |tools: &[&str], kinds: &[AuditKind]| AuditFilter {
        tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
        kinds: kinds.iter().map(|kind| (*kind).into()).collect(),
        ..AuditFilter::default()
    };
    assert_eq!(all(&riley, of(&["debug_write"], &[]), 2).await.len(), 3);
    let denied = all(&riley, of(&[], &[AuditKind::Decision]), 2).await;
    assert_eq!((denied.len(), denied[0].verdict()), (1, AuditVerdict::Denied));
    let later = AuditFilter { since: denied[0].time, until: denied[0].time, ..AuditFilter::default() };
    assert!(all(&riley, later, 2).await.is_empty(), "a time of no length");

    let token = page(&riley, AuditFilter::default(), 1, "").await.unwrap().next_page_token;
    assert!(page(&riley, AuditFilter::default(), 1, &token).await.is_ok());
    for answer in [
        page(&house.person("sam").await, AuditFilter::default(), 1, &token).await,
        page(&riley, of(&["debug_write"], &[]), 1, &token).await,
        page(&riley, AuditFilter::default(), 1_001, "").await,
        page(&riley, AuditFilter { kinds: vec![42], ..AuditFilter::default() }, 1, "").await,
        page(&riley, AuditFilter { tools: vec![String::new(); 33], ..AuditFilter::default() }, 1, "").await,
    ] {
        assert_refused(answer, Code::InvalidArgument, "INVALID_REQUEST");
    }
}

/// The decisions of which there are records, the oldest first.
async fn decisions(person: &Person) -> Vec<(AuditVerdict, String)> {
    let filter = AuditFilter { kinds: vec![AuditKind::Decision.into()], ..AuditFilter::default() };
    let records = all(person, filter, 0).await.into_iter().rev();
    let told = records.map(|record| {
        let nobody = !matches!(record.verdict(), AuditVerdict::Approved | AuditVerdict::Denied);
        assert_eq!(record.known_by == "process" && record.face.is_empty(), nobody, "{record:?}");
        assert_eq!((record.user_id.as_str(), record.caller.as_str()), ("riley", "riley"));
        assert!(record.ended_at.is_some() && record.confirmation_id.starts_with("conf_"));
        (record.verdict(), record.approver)
    });
    told.collect()
}

#[tokio::test]
async fn a_confirmation_that_ends_without_a_decision_is_recorded_too() {
    let house = House::open();
    let riley = house.person("riley").await;
    let id = RequestId::generate();
    riley.asks(id, "cancelled").await;
    let cancelled = cancel_call_request::Call::RequestId(id.to_string());
    riley
        .tools
        .clone()
        .cancel_call(riley.request(CancelCallRequest { call: Some(cancelled) }))
        .await
        .unwrap();
    house.patch("add_to_watchlist", &json!({"requires_confirmation": true}));
    let arguments = json!({"symbol": "TCS", "note": "x"});
    let add = call("add_to_watchlist", &arguments, Some(RequestId::generate()));
    let asked = confirmation(riley.call(add.clone()).await);
    riley.approve(&asked.confirmation_id).await.unwrap();
    house.patch("add_to_watchlist", &json!({"title": "Another"}));
    confirmation(riley.call(add).await);
    let by = |verdict, approver: &str| (verdict, approver.to_owned());
    assert_eq!(
        decisions(&riley).await,
        [
            by(AuditVerdict::Withdrawn, ""),
            by(AuditVerdict::Approved, "riley"),
            by(AuditVerdict::Voided, "riley")
        ]
    );

    let late = House::with(|config| config.confirmations.expire_in = Duration::from_millis(1));
    let riley = late.person("riley").await;
    let id = RequestId::generate();
    let asked = riley.asks(id, "nobody decides").await;
    let wait = Some(prost_types::Duration { seconds: 60, nanos: 0 });
    let message = GetConfirmationRequest { confirmation_id: asked.confirmation_id, wait };
    let over = riley.confirmations.clone().get_confirmation(riley.request(message)).await.unwrap();
    assert_eq!(over.into_inner().confirmation.unwrap().state(), ConfirmationState::Expired);
    // By whoever comes first, the timer or the call.
    assert_eq!(error(riley.call_confirm(id, "nobody decides").await).0, ToolErrorCode::ConfirmationExpired);
    assert_eq!(decisions(&riley).await, [by(AuditVerdict::Expired, "")]);
}

#[tokio::test]
async fn nobody_can_count_what_others_do() {
    let house = House::with_users();
    let (riley, alex, sam) =
        (house.person("riley").await, house.person("alex").await, house.person("sam").await);
    let sequences = async |person: &Person| -> Vec<u64> {
        let mut all: Vec<_> =
            all(person, AuditFilter::default(), 1).await.iter().map(|it| it.sequence).collect();
        all.reverse();
        all
    };
    let others = async || {
        for value in ["a", "b", "c"] {
            data(sam.call(debug_write(value)).await);
        }
    };
    others().await;
    data(riley.call(debug_write("x")).await);
    others().await;
    let id = RequestId::generate();
    let asked = riley.asks(id, "y").await;
    alex.approve(&asked.confirmation_id).await.unwrap();
    others().await;
    data(riley.call_confirm(id, "y").await);
    // A write, a decision of somebody else on one's own call, the call.
    assert_eq!(sequences(&riley).await, [1, 2, 3]);
    assert_eq!(sequences(&alex).await, [1]);
    assert_eq!(sequences(&sam).await, (1..=9).collect::<Vec<_>>());
    assert_eq!(sequences(&house.person("olga").await).await, (1..=12).collect::<Vec<_>>());
}
