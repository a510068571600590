//! The table `webhooks`: the configuration of the serving process, for every process that changes a confirmation.

use crate::outbox::{Event, Subscription};
use toolwire_db::{
    Error,
    sql::{Connection, Statement, insert, sql},
};

/// Replaces all webhooks.
pub(crate) async fn replace(db: &mut Connection, all: &[Subscription]) -> Result<(), Error> {
    sql!("DELETE FROM webhooks").run(db).await?;
    for Subscription { url, requested, decided, expired } in all {
        insert! { webhooks: url, requested, decided, expired }.run(db).await?;
    }
    Ok(())
}

/// The addresses of the webhooks that receive an event.
pub(crate) fn subscribers(event: Event) -> Statement<String> {
    sql!("SELECT url FROM webhooks WHERE {..event.into_str()} = 1")
}
