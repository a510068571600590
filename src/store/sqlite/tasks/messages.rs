//! Messages of agents and persons. Those that come while others are being written are appended together: one change, in
//! which each task is read and written once, whoever speaks.
//!
//! Whoever has the turn writes for all that wait. Each is judged by itself: one that is refused harms no other.

use std::{collections::HashMap, sync::Arc, time::SystemTime};

use tokio::sync::oneshot;

use super::{
    admit,
    entries::{self, New, Of},
    fault::Fault,
    mutations::{self, Answered},
    queue::Waiting,
    rows::{Row, find, save},
};
use crate::{
    sqlite::{Change, Durability, Failed, Sqlite},
    tasks::{
        Mutation, NewMessage, Refused,
        entry::{Body, Lengths, Message, Part, Speaker},
    },
};
use toolwire_tokens as tokens;
use toolwire_tool::context::{RequestId, TaskId, UserId};

impl Sqlite {
    pub(super) async fn append_task_message(
        &self,
        user: &UserId,
        id: &TaskId,
        new: &NewMessage,
        mutation: Mutation,
        now: SystemTime,
    ) -> Result<u64, Fault> {
        let tokens = tokens::length(&new.text).await.tokens;
        let (answer, mut answered) = oneshot::channel();
        let (user, task, new) = (user.clone(), id.clone(), new.clone());
        self.messages.add(Waiting { user, task, new, tokens, mutation, now, answer });
        loop {
            let _turn = self.messages.turn.lock().await;
            match answered.try_recv() {
                Ok(answer) => return answer,
                Err(oneshot::error::TryRecvError::Empty) => self.append_messages().await,
                Err(oneshot::error::TryRecvError::Closed) => unreachable!("who is not answered waits again"),
            }
        }
    }

    /// Writes what waits, and answers all of it.
    async fn append_messages(&self) {
        let change = self.change(Durability::Power).await;
        let mut batch = self.messages.take();
        match async { self.append_all(change?, &batch.all).await }.await {
            Ok(answers) => batch.answer(answers),
            Err(failed) => {
                let failed = shared(failed);
                let answers = batch.all.iter().map(|_| Err(failed().into())).collect();
                batch.answer(answers);
            }
        }
    }

    async fn append_all(
        &self,
        mut change: Change,
        all: &[Waiting],
    ) -> Result<Vec<Result<u64, Fault>>, Failed> {
        let mut of_tasks: HashMap<&TaskId, Vec<usize>> = HashMap::new();
        for (index, message) in all.iter().enumerate() {
            of_tasks.entry(&message.task).or_default().push(index);
        }
        let mut answers: Vec<_> = all.iter().map(|_| Err(Refused::Unknown.into())).collect();
        for (id, of_task) in of_tasks {
            let Some(row) = find(&mut change, id).await? else { continue };
            let messages = of_task.iter().map(|index| &all[*index]).collect::<Vec<_>>();
            for (index, answer) in of_task.iter().zip(append_to(&mut change, row, &messages).await?) {
                answers[*index] = answer;
            }
        }
        change.commit().await?;
        self.tasks_changed();
        Ok(answers)
    }
}

/// Appends to one task.
async fn append_to(
    change: &mut Change,
    mut row: Row,
    messages: &[&Waiting],
) -> Result<Vec<Result<u64, Fault>>, Failed> {
    let owner = row.task.user.clone();
    let own = messages.iter().filter(|message| message.user == owner).map(|message| message.mutation);
    let now =
        messages.iter().map(|message| message.now).max().expect("a task is here because of its messages");
    let mut known = mutations::find_all(change, &owner, &own.collect::<Vec<_>>(), now).await?;
    let (mut answers, mut entries, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    for message in messages {
        let answer = if message.user == owner {
            judge(change, &mut row, message, &mut known, &mut entries).await?
        } else {
            Err(Refused::Unknown.into())
        };
        if let Ok((sequence, true)) = answer {
            kept.push((message.mutation, sequence));
        }
        answers.push(answer.map(|(sequence, _)| sequence));
    }
    if !entries.is_empty() {
        entries::insert(change, entries).await?;
        save(change, &mut row).await?;
        mutations::keep_all(change, &owner, &kept, now).await?;
    }
    Ok(answers)
}

/// The place of a message, and whether it is new.
async fn judge(
    change: &mut Change,
    row: &mut Row,
    message: &Waiting,
    known: &mut HashMap<RequestId, Answered<u64>>,
    entries: &mut Vec<New>,
) -> Result<Result<(u64, bool), Fault>, Failed> {
    let Waiting { new, tokens, mutation, now, .. } = message;
    if let Some(answered) = known.get(&mutation.request_id) {
        return Ok(answered.clone().to(*mutation).map(|sequence| (sequence, false)).map_err(Fault::from));
    }
    match admitted(change, row, new, *now).await {
        Ok(()) => {}
        Err(Fault::Failed(failed)) => return Err(failed),
        Err(refused) => return Ok(Err(refused)),
    }
    let lengths = Lengths { input: Some(*tokens), result: None };
    let of = Of { step: new.turn.step, position: new.turn.position, lengths, ..Of::default() };
    let text = Part::Whole(new.text.clone());
    let body = Body::Message(Message { speaker: new.speaker, text, opaque: new.opaque.clone() });
    let entry = entries::next(row, of, body, *now)?;
    let sequence = entry.sequence();
    entries.push(entry);
    known.insert(mutation.request_id, Answered::new(mutation.digest, sequence));
    Ok(Ok((sequence, true)))
}

async fn admitted(
    change: &mut Change,
    row: &mut Row,
    new: &NewMessage,
    now: SystemTime,
) -> Result<(), Fault> {
    admit::in_time(&row.task, now)?;
    if new.speaker == Speaker::Assistant || new.turn.lease_token != 0 {
        admit::driver(&row.task, new.turn.lease_token, now)?;
    }
    admit::call(change, row, new.turn.step).await
}

/// One failure of several.
fn shared(failed: Failed) -> impl Fn() -> Failed {
    let failed = match failed {
        Failed::Store(error) => Err(error),
        Failed::Database(error) => Ok(Arc::new(error)),
        Failed::Shared(error) => Ok(error),
    };
    move || match &failed {
        Ok(error) => Failed::Shared(Arc::clone(error)),
        Err(error) => Failed::Store(error.clone()),
    }
}
