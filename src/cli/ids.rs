//! Identifiers by any prefix that is unique, with or without the word before their `_`: a table may shorten them.

use std::collections::BTreeSet;

use super::backend::{Backend, into_answer};
use toolwire_contract::proto::{tasks::v1 as tasks, v1};
use toolwire_server::console::Failure;

/// Page sizes of requests. Of the calls, the newest page is searched.
const CONFIRMATIONS: i32 = 200;
const TASKS: i32 = 1_000;
const CALLS: i32 = 1_000;
/// `conf_` or `task_` and 32 digits, and a UUID.
const WHOLE: usize = 37;
const WHOLE_CALL: usize = 36;
/// How many of several that are meant are named.
const MAX_NAMED: usize = 8;

/// The confirmation that is meant.
pub(super) async fn confirmation(backend: &Backend, given: &str) -> Result<String, Failure> {
    if given.len() >= WHOLE {
        return Ok(given.to_owned());
    }
    let (mut ids, mut page_token) = (Vec::new(), String::new());
    loop {
        let request = v1::ListConfirmationsRequest { filter: None, page_size: CONFIRMATIONS, page_token };
        let page = into_answer(backend.confirmations().list_confirmations(request)).await?;
        ids.extend(page.confirmations.into_iter().map(|it| it.confirmation_id));
        page_token = page.next_page_token;
        if page_token.is_empty() {
            return resolve("confirmations", given, ids);
        }
    }
}

/// The task that is meant, of any tree.
pub(super) async fn task(backend: &Backend, given: &str) -> Result<String, Failure> {
    if given.len() >= WHOLE {
        return Ok(given.to_owned());
    }
    let kinds = [tasks::TaskKind::Root, tasks::TaskKind::Agent, tasks::TaskKind::Question];
    let filter = tasks::TaskFilter { kinds: kinds.map(Into::into).to_vec(), ..Default::default() };
    let (mut ids, mut page_token) = (Vec::new(), String::new());
    loop {
        let request = tasks::ListTasksRequest { filter: Some(filter.clone()), page_size: TASKS, page_token };
        let page = into_answer(backend.tasks().list_tasks(request)).await?;
        ids.extend(page.tasks.into_iter().map(|it| it.task_id));
        page_token = page.next_page_token;
        if page_token.is_empty() {
            return resolve("tasks", given, ids);
        }
    }
}

/// The call that is meant, of this user or of another one.
pub(super) async fn call(backend: &Backend, given: &str, user_id: &str) -> Result<String, Failure> {
    if given.len() >= WHOLE_CALL {
        return Ok(given.to_owned());
    }
    let filter = v1::CallFilter { user_id: user_id.to_owned(), ..Default::default() };
    let request = v1::ListCallsRequest { filter: Some(filter), page_size: CALLS, page_token: String::new() };
    let page = into_answer(backend.tools().list_calls(request)).await?;
    resolve("calls", given, page.calls.into_iter().map(|it| it.call_id))
}

/// The one identifier that begins so. Where none does, the given text, which the server then says is unknown.
fn resolve(kind: &str, given: &str, ids: impl IntoIterator<Item = String>) -> Result<String, Failure> {
    let is_meant = |id: &String| {
        let number = id.split_once('_').map_or("", |(_, number)| number);
        id.starts_with(given) || number.starts_with(given)
    };
    let mut found: BTreeSet<_> = ids.into_iter().filter(is_meant).collect();
    match found.len() {
        _ if given.is_empty() || found.contains(given) => Ok(given.to_owned()),
        0 => Ok(given.to_owned()),
        1 => Ok(found.pop_first().unwrap_or_default()),
        many => {
            let named: Vec<_> = found.into_iter().take(MAX_NAMED).collect();
            let others = if many > MAX_NAMED { " and others" } else { "" };
            Err(Failure::Usage(format!(
                "{many} {kind} begin with {given}: {}{others}. Type more of the one that you mean",
                named.join(", ")
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(given: &str) -> Result<String, String> {
        let ids = ["conf_7c0f", "conf_7c1a", "conf_90aa"].map(ToOwned::to_owned);
        resolve("confirmations", given, ids).map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_prefix_is_taken_where_one_identifier_has_it() {
        for (given, expected) in [("conf_9", "conf_90aa"), ("9", "conf_90aa"), ("7c0", "conf_7c0f")] {
            assert_eq!(resolved(given).as_deref(), Ok(expected));
        }
        for unknown in ["", "conf_8", "8"] {
            assert_eq!(resolved(unknown).as_deref(), Ok(unknown));
        }
        let expected =
            "2 confirmations begin with 7c: conf_7c0f, conf_7c1a. Type more of the one that you mean";
        assert_eq!(resolved("7c").unwrap_err(), expected);
    }

    #[test]
    fn a_whole_identifier_is_meant_although_others_begin_with_it() {
        let ids = ["task_7", "task_71"].map(ToOwned::to_owned);
        assert_eq!(resolve("tasks", "task_7", ids).expect("that one"), "task_7");
    }
}
