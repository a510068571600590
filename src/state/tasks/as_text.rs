//! Serialisation of names by `Display` and `FromStr`, for `#[serde(with = …)]`.

use std::{fmt::Display, str::FromStr};

use serde::{Deserialize, Deserializer, Serializer, de::Error};

pub(in crate::tasks) fn serialize<T: Display, S: Serializer>(
    name: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(name)
}

pub(in crate::tasks) fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

pub(super) mod category {
    use serde::{Deserialize, Deserializer, Serializer};

    use toolwire_contract::proto::v1::ToolCategory;

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
    pub(in crate::tasks) fn serialize<S: Serializer>(
        it: &ToolCategory,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(it.as_str_name())
    }

    pub(in crate::tasks) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<ToolCategory, D::Error> {
        Ok(ToolCategory::from_str_name(&String::deserialize(deserializer)?).unwrap_or_default())
    }
}

pub(super) mod base64 {
    use data_encoding::BASE64;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(in crate::tasks) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64.encode(bytes))
    }

    pub(in crate::tasks) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        BASE64.decode(String::deserialize(deserializer)?.as_bytes()).map_err(D::Error::custom)
    }
}

/// The same for an `Option`.
pub(super) mod optional {
    use std::{fmt::Display, str::FromStr};

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[allow(clippy::ref_option, reason = "serde passes it so")]
    pub(in crate::tasks) fn serialize<T: Display, S: Serializer>(
        name: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match name {
            Some(name) => serializer.collect_str(name),
            None => serializer.serialize_none(),
        }
    }

    pub(in crate::tasks) fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<T>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
    }
}
