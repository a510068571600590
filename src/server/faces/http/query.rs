//! Parses the query of a request; an unknown parameter is an error.

use http::Uri;
use serde_json::{Map, Value};
use url::form_urlencoded;

use crate::service::request::refuse;
use toolwire_contract::Refusal;

/// The parameters of a query, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Parses the query of a request; parameters other than `known` are errors.
    pub fn read(uri: &Uri, known: &[&str]) -> Result<Self, Refusal> {
        let query = Self::any(uri);
        match query.0.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            None => Ok(query),
            Some((name, _)) => Err(unknown(name, known)),
        }
    }

    /// Parses the query of a request, whatever its parameters.
    pub fn any(uri: &Uri) -> Self {
        let pairs = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        Self(pairs.into_owned().collect())
    }

    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Every value of a parameter.
    pub(in crate::faces) fn all(&self, name: &str) -> Vec<String> {
        self.pairs().filter(|(it, _)| *it == name).map(|(_, value)| value.to_owned()).collect()
    }

    /// The value of a parameter that may occur once; empty if it is absent.
    pub(in crate::faces) fn one(&self, name: &str) -> Result<&str, Refusal> {
        let mut values = self.pairs().filter(|(it, _)| *it == name).map(|(_, value)| value);
        match (values.next(), values.next()) {
            (value, None) => Ok(value.unwrap_or_default()),
            _ => Err(repeated(name)),
        }
    }

    /// The parameters as a JSON object of texts: a list where `is_list` says so, and given once elsewhere.
    pub fn into_object(self, is_list: impl Fn(&str) -> bool) -> Result<Map<String, Value>, Refusal> {
        let mut object = Map::new();
        for (name, text) in self.0 {
            match object.get_mut(&name) {
                None if is_list(&name) => drop(object.insert(name, Value::Array(vec![text.into()]))),
                None => drop(object.insert(name, text.into())),
                Some(Value::Array(list)) => list.push(text.into()),
                Some(_) => return Err(repeated(&name)),
            }
        }
        Ok(object)
    }

    /// A number; `None` if it is absent.
    pub(in crate::faces) fn number(&self, name: &str) -> Result<Option<u32>, Refusal> {
        match self.one(name)? {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| refuse(name, "type", "must be a whole number")),
        }
    }

    /// A flag; false if it is absent.
    pub(in crate::faces) fn flag(&self, name: &str) -> Result<bool, Refusal> {
        match self.one(name)? {
            "" | "false" => Ok(false),
            "true" => Ok(true),
            _ => Err(refuse(name, "type", "must be true or false")),
        }
    }
}

fn repeated(name: &str) -> Refusal {
    refuse(cut(name), "format", "must be given once")
}

/// The error of an unknown parameter.
pub(in crate::faces) fn unknown(name: &str, known: &[&str]) -> Refusal {
    let what = match known {
        [] => "is unknown: this path takes no query".to_owned(),
        _ => format!("is unknown: this path takes {}", known.join(", ")),
    };
    refuse(cut(name), "unknown", &what)
}

fn cut(name: &str) -> &str {
    &name[..name.floor_char_boundary(64)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_query_holds_what_is_known_and_once_what_is_one() {
        let uri: Uri = "/v1/tools?tags=a%20b&tags=c&limit=5".parse().unwrap();
        let query = Query::read(&uri, &["tags", "limit"]).unwrap();
        assert_eq!(query.all("tags"), ["a b", "c"]);
        assert_eq!(query.number("limit"), Ok(Some(5)));
        assert!(query.one("tags").is_err() && query.flag("limit").is_err());
        let error = Query::read(&uri, &["tags"]).unwrap_err();
        assert!(error.to_string().contains("limit is unknown: this path takes tags"), "{error}");
    }

    #[test]
    fn a_repeated_parameter_is_a_list_or_refused() {
        let uri: Uri = "/api/quotes?symbol=A&tag=x&tag=y&note=".parse().unwrap();
        let object = |is_list: fn(&str) -> bool| Query::any(&uri).into_object(is_list);
        let expected = json!({"symbol": "A", "tag": ["x", "y"], "note": ""});
        assert_eq!(object(|name| name == "tag").map(Value::Object), Ok(expected));
        assert!(object(|_| false).unwrap_err().to_string().contains("tag must be given once"));
    }
}
