//! `toolwire quotas`: how much of each quota is used, one a line, the fullest first.

use std::time::SystemTime;

use clap::Args;

use super::{backend::into_answer, json, observer_options::ObserverOptions, table::Table};
use toolwire_base::clock;
use toolwire_contract::proto::v1;
use toolwire_server::{
    console::{self, Failure},
    domain::Domain,
};

/// Maximum size of a page.
const PAGE: i32 = 1_000;

/// Shows how much of each quota is used, and when there is room again, the fullest first
///
/// It counts as no call. Of another user, a quota for a group is shown while something of it is used; of all users,
/// each quota of which something is used.
#[derive(Debug, Args)]
pub(super) struct Quotas {
    #[command(flatten)]
    options: ObserverOptions,
}

impl Quotas {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let ObserverOptions { user_id, json, connection } = self.options;
        let backend = connection.open(domains).await?;
        let (mut quotas, mut page_token) = (Vec::new(), String::new());
        loop {
            let request = v1::ListQuotasRequest { user_id: user_id.clone(), page_size: PAGE, page_token };
            let page = into_answer(backend.tools().list_quotas(request)).await?;
            quotas.extend(page.quotas);
            page_token = page.next_page_token;
            if page_token.is_empty() {
                break;
            }
        }
        if json {
            return console::json_lines(quotas.iter().map(json::plain));
        }
        if quotas.is_empty() {
            let what = match user_id.as_str() {
                "" => "no quota bounds your calls",
                "*" => "no user has used anything of a quota",
                _ => "no quota is known to bound the calls of this user, or you may not observe",
            };
            console::say(what);
            return Ok(());
        }
        table(&quotas, clock::wall()).print()
    }
}

fn table(quotas: &[v1::QuotaStatus], now: SystemTime) -> Table {
    let heading = ["USER", "QUOTA", "USED", "LEFT", "ONE MORE"];
    Table::new(quotas.iter().map(|it| row(it, now))).with_heading(heading)
}

fn row(it: &v1::QuotaStatus, now: SystemTime) -> [String; 5] {
    let used = it.most.saturating_sub(it.left);
    [it.user_id.clone(), it.quota.clone(), used.to_string(), it.left.to_string(), one_more(it, now)]
}

/// When the quota allows one more call than now; empty if it allows all now.
fn one_more(it: &v1::QuotaStatus, now: SystemTime) -> String {
    match it.free_at.and_then(|at| SystemTime::try_from(at).ok()) {
        Some(at) => format!("in {}", clock::wait_in_words(at.duration_since(now).unwrap_or_default())),
        None if it.left < it.most => "when a call ends".to_owned(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn a_row_says_how_much_is_used_and_when_there_is_room() {
        let free_at = Some(prost_types::Timestamp { seconds: 42, nanos: 0 });
        let of = |user: &str, quota: &str, most, left, free_at| v1::QuotaStatus {
            quota: quota.to_owned(),
            most,
            left,
            user_id: user.to_owned(),
            free_at,
        };
        let quotas = [
            of("riley", "3 calls in 1m", 3, 0, free_at),
            of("riley", "2 calls at once", 2, 1, None),
            of("demo", "3 calls in 1m", 3, 3, None),
        ];
        let expected = "\
USER   QUOTA            USED  LEFT  ONE MORE
riley  3 calls in 1m    3     0     in 12 s
riley  2 calls at once  1     1     when a call ends
demo   3 calls in 1m    0     3
";
        let now = UNIX_EPOCH + Duration::from_secs(30);
        assert_eq!(table(&quotas, now).render("", None), expected);
    }
}
