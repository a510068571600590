//! How much a call may do in the real world, as providers, rules and floors state it.

use strum::{EnumString, IntoStaticStr, VariantNames};

/// The impact of a call on the real world, from the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Consequence {
    Low,
    Medium,
    High,
}
