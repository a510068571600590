//! Messages of agents and persons, with group append: messages that arrive while others are being written are appended
//! in one transaction, which reads and writes each task once. Each message is admitted or refused by itself.

use std::collections::HashMap;

use tokio::sync::{Mutex, oneshot};

use super::{
    admit,
    entries::{self, EntryMeta},
    error::TxError,
    load::{LoadedTask, find, save},
    mutations,
    queue::{Answer, QueuedMessage},
};
use crate::{
    Store,
    tasks::{
        Mutation, NewMessage, Refused, TaskError,
        entry::{Body, Lengths, Message, Speaker, Text},
        rows::{
            entries::NewEntry,
            mutations::{self as rows, StoredAnswer},
        },
    },
};
use toolwire_db::{Durability, Error, Lane, StoreError, Tx};
use toolwire_tokens as tokens;
use toolwire_tool::context::{RequestId, TaskId, UserId};

impl Store {
    /// Appends a message, and returns its sequence number.
    pub async fn append_message(
        &self,
        user: &UserId,
        id: &TaskId,
        message: &NewMessage,
        mutation: Mutation,
    ) -> Result<u64, TaskError> {
        let tokens = tokens::length(&message.text).await.tokens;
        let (answer, mut receiver) = oneshot::channel();
        let (user, task, message) = (user.clone(), id.clone(), message.clone());
        self.messages.add(QueuedMessage { user, task, message, tokens, mutation, answer });
        loop {
            // The holder of the writer's lock writes for all that are queued, so most find their answer here.
            let _writer = self.messages.writer.lock().await;
            match receiver.try_recv() {
                Ok(answer) => return self.fail_if_overdue(answer).await,
                Err(oneshot::error::TryRecvError::Empty) => self.append_messages().await,
                Err(oneshot::error::TryRecvError::Closed) => {
                    unreachable!("a message without an answer is queued again")
                }
            }
        }
    }

    /// Writes queued messages, and answers all of them.
    async fn append_messages(&self) {
        let has_lanes = self.spans_machines();
        let mut batch = self.messages.batch();
        if has_lanes {
            batch.fill();
        }
        let users: Vec<UserId> = batch.messages().iter().map(|message| message.user.clone()).collect();
        let batch = Mutex::new(batch);
        let shared = &batch;
        let done = transact!(self, Lane::Users(&users), Durability::Power, |tx| {
            let mut batch = shared.lock().await;
            // Only now, so that the batch includes messages that arrived while the transaction waited for the writer.
            // Where there are lanes, those of the messages are taken already.
            if !has_lanes {
                batch.fill();
            }
            append_all(tx, batch.messages()).await
        });
        let mut batch = batch.into_inner();
        match done {
            Ok(answers) => batch.answer(answers),
            Err(failed) => {
                // The transaction may have failed before it filled the batch; queued messages must be answered too, or
                // their callers would retry at once.
                if !has_lanes {
                    batch.fill();
                }
                let answers = batch.messages().iter().map(|_| Err(TxError::Failed(failed.clone())));
                let answers = answers.collect();
                batch.answer(answers);
            }
        }
    }
}

/// Appends messages task by task, and returns their answers in the order of the messages.
async fn append_all(tx: &mut Tx, messages: &[QueuedMessage]) -> Result<Vec<Answer>, Error> {
    let mut by_task: HashMap<&TaskId, Vec<usize>> = HashMap::new();
    for (index, message) in messages.iter().enumerate() {
        by_task.entry(&message.task).or_default().push(index);
    }
    let mut answers: Vec<Answer> = messages.iter().map(|_| Err(TxError::Refused(Refused::Unknown))).collect();
    for (id, indices) in by_task {
        let Some(loaded) = find(tx, id).await? else { continue };
        let own: Vec<_> = indices.iter().map(|index| &messages[*index]).collect();
        for (index, answer) in indices.into_iter().zip(append_to(tx, loaded, &own).await?) {
            answers[index] = answer;
        }
    }
    Ok(answers)
}

/// Appends the messages of one task, and returns their answers in the same order.
async fn append_to(
    tx: &mut Tx,
    mut loaded: LoadedTask,
    messages: &[&QueuedMessage],
) -> Result<Vec<Answer>, Error> {
    let owner = loaded.task.user.clone();
    let own = messages.iter().filter(|message| message.user == owner).map(|message| message.mutation);
    let now = tx.now();
    let mut known = mutations::find_all(tx, &owner, &own.collect::<Vec<_>>(), now).await?;
    let (mut answers, mut new, mut responses) = (Vec::new(), Vec::new(), Vec::new());
    for message in messages {
        let answer = if message.user == owner {
            admit_or_replay(tx, &mut loaded, message, &mut known, &mut new).await?
        } else {
            Err(TxError::Refused(Refused::Unknown))
        };
        if let Ok((sequence, true)) = answer {
            responses.push((message.mutation, sequence));
        }
        answers.push(answer.map(|(sequence, _)| sequence));
    }
    if !new.is_empty() {
        entries::insert(tx, new).await?;
        save(tx, &mut loaded).await?;
        rows::insert_all(&owner, &responses, now)?.run(tx).await?;
    }
    Ok(answers)
}

/// Admits a message, or finds the response to an earlier one under the same `request_id`: returns its sequence number,
/// and whether it is new. The outer error fails the whole batch.
async fn admit_or_replay(
    tx: &mut Tx,
    loaded: &mut LoadedTask,
    message: &QueuedMessage,
    known: &mut HashMap<RequestId, StoredAnswer<u64>>,
    new: &mut Vec<NewEntry>,
) -> Result<Result<(u64, bool), TxError<StoreError>>, Error> {
    let QueuedMessage { message, tokens, mutation, .. } = message;
    if let Some(stored) = known.get(&mutation.request_id) {
        let answer = stored.clone().response_to(*mutation);
        return Ok(answer.map(|sequence| (sequence, false)).map_err(TxError::Refused));
    }
    if let Err(error) = admit(tx, loaded, message).await {
        return error.refusal().map(Err);
    }
    let step_ref = &message.step_ref;
    let lengths = Lengths { input: Some(*tokens), result: None };
    let meta =
        EntryMeta { step: step_ref.step, position: step_ref.position, lengths, ..EntryMeta::default() };
    let text = Text::Inline(message.text.clone());
    let body = Body::Message(Message { speaker: message.speaker, text, opaque: message.opaque.clone() });
    let entry = entries::next(loaded, meta, body, tx.now())?;
    let sequence = entry.sequence();
    new.push(entry);
    let Mutation { request_id, digest, .. } = *mutation;
    known.insert(request_id, StoredAnswer { request_id, digest, answer: sequence });
    Ok(Ok((sequence, true)))
}

async fn admit(tx: &mut Tx, loaded: &mut LoadedTask, message: &NewMessage) -> Result<(), TxError> {
    let now = tx.now();
    admit::in_time(&loaded.task, now)?;
    // A person needs no lease to speak.
    if message.speaker == Speaker::Assistant || message.step_ref.lease_token != 0 {
        admit::driver(&loaded.task, message.step_ref.lease_token, now)?;
    }
    admit::call(tx, loaded, message.step_ref.step).await
}
