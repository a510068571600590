//! Messages to a task: what was acknowledged stands where it was said, and nothing stands there twice.

use std::collections::{BTreeMap, HashSet};

use tonic::Status;
use toolwire::{
    contract::proto::tasks::v1::{AppendMessageRequest, Message, MessageRole, timeline_entry::Entry},
    tool::context::RequestId,
};

use super::Client;

/// One task a round, and what was said to it.
#[derive(Debug, Default)]
pub(super) struct Talk {
    /// The task, once it is known, and by what it is made.
    task: Option<(RequestId, Option<String>)>,
    places: BTreeMap<u64, String>,
    /// What is not known to be stored.
    pending: Option<(RequestId, String)>,
    pub(super) told: usize,
}

impl Talk {
    /// Talks until the server is gone.
    pub(super) async fn load(&mut self, client: &mut Client) -> Status {
        loop {
            if let Err(status) = self.say(client).await {
                return status;
            }
        }
    }

    /// Says something new, or again what nobody acknowledged.
    async fn say(&mut self, client: &mut Client) -> Result<(), Status> {
        let task = self.task(client).await?;
        // Each fifth is kept apart from its entry.
        let length = if self.told.is_multiple_of(5) { 17 * 1024 } else { 0 };
        let new = || {
            let id = RequestId::generate();
            (id, format!("message {id}{}", " x".repeat(length / 2)))
        };
        let (id, text) = self.pending.get_or_insert_with(new).clone();
        let role = MessageRole::Assistant.into();
        let message = AppendMessageRequest {
            task_id: task,
            message: Some(Message { role, text: text.clone(), ..Message::default() }),
            request_id: id.to_string(),
            ..AppendMessageRequest::default()
        };
        let sequence = client.tasks.append_message(message).await?.into_inner().sequence;
        let id = id.to_string();
        assert_eq!(self.places.insert(sequence, id), None, "two messages have the place {sequence}");
        self.pending = None;
        self.told += 1;
        Ok(())
    }

    async fn task(&mut self, client: &mut Client) -> Result<String, Status> {
        let (id, task) = self.task.get_or_insert_with(|| (RequestId::generate(), None));
        if task.is_none() {
            *task = Some(client.create("Talk", *id).await?);
        }
        Ok(task.clone().expect("made above"))
    }

    /// Everything that was said is there once, and the next round has another task.
    pub(super) async fn verify(&mut self, client: &mut Client) {
        if self.pending.is_some() {
            self.say(client).await.expect("said again");
        }
        let Some((_, Some(task))) = self.task.take() else { return };
        let (mut all, mut said) = (HashSet::new(), BTreeMap::new());
        for entry in client.timeline(&task).await {
            if let Some(Entry::Message(message)) = entry.entry {
                // The text of a long one is kept apart.
                let id = message.text.split(' ').nth(1).unwrap_or_default().to_owned();
                assert!(id.is_empty() || all.insert(id.clone()), "{id} is there twice");
                said.insert(entry.sequence, id);
            }
        }
        assert_eq!(said.len(), self.places.len(), "as many as were acknowledged");
        for (sequence, id) in std::mem::take(&mut self.places) {
            let found = said.get(&sequence);
            assert!(found.is_some_and(|it| it.is_empty() || *it == id), "{id} is lost: {found:?}");
        }
        client.ends(&task, RequestId::generate()).await.expect("ended");
    }
}
