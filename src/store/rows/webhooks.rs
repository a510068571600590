//! The table `webhooks`: what the serving process was configured with, for every process that makes a change.

use crate::{
    Error,
    outbox::{Event, Subscription},
    sql,
    sql::{Connection, Scalar, Statement},
};

/// Replaces all webhooks.
pub(crate) async fn replace(connection: &mut Connection, all: &[Subscription]) -> Result<(), Error> {
    sql!("DELETE FROM webhooks").execute(connection).await?;
    for Subscription { url, requested, decided, expired } in all {
        let columns = [
            ("url", url.into()),
            ("requested", requested.into()),
            ("decided", decided.into()),
            ("expired", expired.into()),
        ];
        Statement::insert("webhooks", columns).execute(connection).await?;
    }
    Ok(())
}

/// The addresses of the webhooks that receive an event.
pub(crate) async fn subscribers(connection: &mut Connection, event: Event) -> Result<Vec<String>, Error> {
    let mut urls = sql!("SELECT url FROM webhooks WHERE ");
    urls.push(event.into_str());
    Ok(urls.all(connection).await?.into_iter().map(|Scalar(url)| url).collect())
}
