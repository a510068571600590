//! The dialects of the two databases: their parameters, the values of their columns, and the few texts in which they
//! differ. A statement is written for SQLite; what PostgreSQL reads instead stands in comments, which SQLite skips:
//!
//! - `/*postgres text */` is read by PostgreSQL only;
//! - `/*sqlite*/ text /*postgres other */` is `text` on SQLite and `other` on PostgreSQL.
//!
//! Functions of SQLite that PostgreSQL lacks are defined by the first migration there. Not here: any
//! statement.

use std::borrow::Cow;

use sqlx::{
    Arguments, AssertSqlSafe, Encode, Postgres, Sqlite, Type, TypeInfo, ValueRef,
    encode::IsNull,
    postgres::{PgArgumentBuffer, PgArguments, PgTypeInfo, PgValueRef, types::Oid},
    sqlite::{SqliteArguments, SqliteValueRef},
};

use super::{Value, literals};
use crate::Error;

/// The text and the arguments of a statement. Texts are safe: they consist of literals, and values are parameters.
type Prepared<A> = (AssertSqlSafe<Cow<'static, str>>, A);

pub(super) fn for_sqlite(
    text: Cow<'static, str>,
    values: Vec<Value>,
) -> Result<Prepared<SqliteArguments>, Error> {
    let mut arguments = SqliteArguments::default();
    arguments.reserve(values.len(), 0);
    for value in values {
        let added = match value {
            Value::Null => arguments.add(None::<i64>),
            Value::Int(value) => arguments.add(value),
            Value::Real(value) => arguments.add(value),
            Value::Text(value) => arguments.add(value),
            Value::Bytes(value) => arguments.add(value),
        };
        added.map_err(sqlx::Error::Encode)?;
    }
    Ok((AssertSqlSafe(text), arguments))
}

/// How PostgreSQL receives a statement.
#[derive(Clone, Copy, Debug)]
pub(super) enum Protocol<'a> {
    /// It is prepared once, and its values are sent apart.
    Extended,
    /// It is sent with its values as one text, after these settings.
    Simple(&'a str),
}

/// The statements of a text, each with its arguments: with parameters, PostgreSQL executes one at a time.
pub(super) fn for_postgres(
    text: &str,
    values: Vec<Value>,
    protocol: Protocol<'_>,
) -> Result<Vec<Prepared<Option<PgArguments>>>, Error> {
    let (text, values) = text_for_postgres(text, values);
    if let Protocol::Simple(settings) = protocol {
        let text = literals::inline(&format!("{settings}{text}"), values);
        return Ok(vec![(AssertSqlSafe(Cow::from(text)), None)]);
    }
    let mut values = values.into_iter();
    statements(&text)
        .map(|statement| {
            let (text, count) = number_parameters(statement);
            let mut arguments = PgArguments::default();
            for value in values.by_ref().take(count) {
                add(&mut arguments, value).map_err(sqlx::Error::Encode)?;
            }
            Ok((AssertSqlSafe(Cow::from(text)), Some(arguments)))
        })
        .collect()
}

fn statements(text: &str) -> impl Iterator<Item = &str> {
    text.split(';').filter(|statement| !statement.trim().is_empty())
}

/// The only statement of a text.
pub(super) fn one_for_postgres(
    text: &str,
    values: Vec<Value>,
    protocol: Protocol<'_>,
) -> Result<Prepared<Option<PgArguments>>, Error> {
    let is_one = statements(&text_for_postgres(text, Vec::new()).0).count() == 1;
    let one = for_postgres(text, values, protocol)?.pop().filter(|_| is_one);
    one.ok_or_else(|| sqlx::Error::Configuration("it is not one statement".into()).into())
}

fn add(arguments: &mut PgArguments, value: Value) -> Result<(), sqlx::error::BoxDynError> {
    match value {
        Value::Null => arguments.add(Untyped),
        Value::Int(value) => arguments.add(value),
        Value::Real(value) => arguments.add(value),
        // PostgreSQL has no character 0.
        Value::Text(value) if value.contains('\0') => arguments.add(value.replace('\0', "\u{fffd}")),
        Value::Text(value) => arguments.add(value),
        Value::Bytes(value) => arguments.add(value),
    }
}

/// The text that PostgreSQL reads, and the values of the parameters in it. A value whose parameter only SQLite reads is
/// left out, since the parameters are numbered by what remains.
fn text_for_postgres(text: &str, values: Vec<Value>) -> (Cow<'_, str>, Vec<Value>) {
    if !text.contains("/*") {
        return (text.into(), values);
    }
    let (mut read, mut rest) = (String::with_capacity(text.len()), text);
    let (mut values, mut kept) = (values.into_iter(), Vec::new());
    let mut take = |of: &str| values.by_ref().take(of.matches('?').count()).collect::<Vec<_>>();
    while let Some((before, comment)) = rest.split_once("/*") {
        read.push_str(before);
        kept.append(&mut take(before));
        // Behind a text for SQLite comes the one for PostgreSQL.
        let comment = match comment.strip_prefix("sqlite*/").and_then(|it| it.split_once("/*")) {
            Some((of_sqlite, comment)) => {
                take(of_sqlite);
                comment
            }
            None => comment,
        };
        let (content, after) = comment.split_once("*/").unwrap_or((comment, ""));
        let content = content.strip_prefix("postgres").unwrap_or_default();
        read.push_str(content);
        kept.append(&mut take(content));
        rest = after;
    }
    read.push_str(rest);
    kept.extend(values);
    (read.into(), kept)
}

/// Numbers the parameters of a statement, as PostgreSQL wants it, and counts them. No literal of a statement contains a
/// question mark.
fn number_parameters(statement: &str) -> (String, usize) {
    let (mut text, mut count) = (String::with_capacity(statement.len() + 32), 0);
    for (index, part) in statement.split('?').enumerate() {
        if index > 0 {
            count = index;
            text.push('$');
            text.push_str(&index.to_string());
        }
        text.push_str(part);
    }
    (text, count)
}

/// A null of the type that PostgreSQL infers.
struct Untyped;

impl Type<Postgres> for Untyped {
    fn type_info() -> PgTypeInfo {
        const UNKNOWN: Oid = Oid(705);
        PgTypeInfo::with_oid(UNKNOWN)
    }
}

impl Encode<'_, Postgres> for Untyped {
    fn encode_by_ref(&self, _: &mut PgArgumentBuffer) -> Result<IsNull, sqlx::error::BoxDynError> {
        Ok(IsNull::Yes)
    }
}

pub(super) fn of_sqlite(value: SqliteValueRef<'_>) -> Result<Value, Error> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    let kind = value.type_info().into_owned();
    let decoded = match kind.name() {
        "INTEGER" => sqlx::Decode::<Sqlite>::decode(value).map(Value::Int),
        "REAL" => sqlx::Decode::<Sqlite>::decode(value).map(Value::Real),
        "TEXT" => sqlx::Decode::<Sqlite>::decode(value).map(Value::Text),
        _ => sqlx::Decode::<Sqlite>::decode(value).map(Value::Bytes),
    };
    decoded.map_err(|error| sqlx::Error::Decode(error).into())
}

pub(super) fn of_postgres(value: PgValueRef<'_>) -> Result<Value, Error> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    let kind = value.type_info().into_owned();
    let decoded = match kind.name() {
        "INT8" => sqlx::Decode::<Postgres>::decode(value).map(Value::Int),
        "INT4" => <i32 as sqlx::Decode<Postgres>>::decode(value).map(|it| Value::Int(it.into())),
        "BOOL" => <bool as sqlx::Decode<Postgres>>::decode(value).map(|it| Value::Int(it.into())),
        "FLOAT8" => sqlx::Decode::<Postgres>::decode(value).map(Value::Real),
        "BYTEA" => sqlx::Decode::<Postgres>::decode(value).map(Value::Bytes),
        // A number of any size, such as a sum of `bigint`, is not among them: the statement casts it.
        _ => sqlx::Decode::<Postgres>::decode(value).map(Value::Text),
    };
    decoded.map_err(|error| sqlx::Error::Decode(error).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_database_reads_its_own_text() {
        let text =
            "SELECT /*sqlite*/ a(?) /*postgres b() */ FROM t WHERE c = ? /*postgres AND d < ? */AND f = ?";
        let (text, values) = text_for_postgres(text, (1..=4).map(Value::Int).collect());
        assert_eq!(text, "SELECT  b()  FROM t WHERE c = ?  AND d < ? AND f = ?");
        assert_eq!(values, [2, 3, 4].map(Value::Int));
        assert_eq!(number_parameters("a = ? AND b IN (?, ?)"), ("a = $1 AND b IN ($2, $3)".to_owned(), 3));
    }

    #[test]
    fn several_statements_divide_the_values() {
        let text =
            "UPDATE a SET b = ?; /*sqlite*/ UPDATE x SET y = ?; /*postgres */UPDATE c SET d = ? WHERE e = ?";
        let values: Vec<_> = (1..=4).map(Value::Int).collect();
        let statements = for_postgres(text, values, Protocol::Extended).unwrap();
        let read: Vec<_> = statements
            .iter()
            .map(|(text, arguments)| (text.0.trim(), arguments.as_ref().unwrap().len()))
            .collect();
        assert_eq!(read, [("UPDATE a SET b = $1", 1), ("UPDATE c SET d = $1 WHERE e = $2", 2)]);
    }
}
