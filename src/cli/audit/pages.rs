//! The records and the refusals of a server, page by page.

use std::time::Duration;

use prost_types::Timestamp;

use crate::backend::{Backend, into_answer};
use toolwire_base::clock;
use toolwire_contract::{convert::timestamp, proto::v1};
use toolwire_server::console::Failure;

/// Page size of requests.
const PAGE: i32 = 1_000;

/// The instant from which records are wanted, `ago` before now.
pub(super) fn since(ago: Option<Duration>) -> Option<Timestamp> {
    ago.and_then(|ago| clock::wall().checked_sub(ago)).map(timestamp)
}

/// Hands the records on, the newest first, until there are none or `take` wants no more.
pub(super) async fn records(
    backend: &Backend,
    filter: &v1::AuditFilter,
    mut take: impl FnMut(Vec<v1::AuditRecord>) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let mut page_token = String::new();
    loop {
        let filter = Some(filter.clone());
        let request = v1::ListRecordsRequest { filter, page_size: PAGE, page_token };
        let page = into_answer(backend.audit().list_records(request)).await?;
        page_token = page.next_page_token;
        if !take(page.records)? || page_token.is_empty() {
            return Ok(());
        }
    }
}

/// The same of refusals, with what is asked in the first request.
pub(super) async fn refusals(
    backend: &Backend,
    request: v1::ListRefusalsRequest,
    mut take: impl FnMut(Vec<v1::RefusalRecord>) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let mut request = v1::ListRefusalsRequest { page_size: PAGE, ..request };
    loop {
        let page = into_answer(backend.audit().list_refusals(request.clone())).await?;
        request.page_token = page.next_page_token;
        if !take(page.refusals)? || request.page_token.is_empty() {
            return Ok(());
        }
    }
}
