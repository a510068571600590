//! A position in the form of the payload.

use super::money::{cents, exact};
use crate::{proto::v1, source::Position};

/// The fields of the data, and what they come to: `cost_basis` in the data is the cost of one share.
pub(super) fn position_message(position: &Position) -> v1::Position {
    v1::Position {
        symbol: position.symbol.to_string(),
        quantity: exact(position.quantity),
        cost_basis: exact(position.cost_basis),
        asset_class: position.asset_class.into_str().to_owned(),
        total_cost: cents(position.quantity * position.cost_basis),
        name: position.name.clone(),
    }
}
