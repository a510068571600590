//! Quotas as messages.

use std::time::Duration;

use toolwire_contract::{convert, proto::v1};
use toolwire_engine::pipeline::QuotaLeft;

pub(super) fn render(it: QuotaLeft) -> v1::QuotaStatus {
    v1::QuotaStatus {
        quota: it.quota,
        most: it.most,
        left: it.left,
        user_id: it.user.to_string(),
        // Rounded up: a call before that instant is refused.
        free_at: it.free_at.map(|at| convert::timestamp(at + Duration::from_nanos(999_999))),
    }
}
