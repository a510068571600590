//! Tasks and their timelines, in one file with their calls and confirmations: what belongs together is one change.

mod admit;
mod begin;
mod confirm;
mod create;
mod documents;
mod end;
mod entries;
mod fault;
mod lease;
mod lengths;
mod list;
mod memories;
mod messages;
mod mistakes;
mod mutations;
mod open;
mod orchestrate;
mod person;
mod queue;
mod recover;
mod refold;
mod resolve;
mod retain;
mod rows;
mod settle;
mod timeline;
mod told;

use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::sync::watch;

pub(crate) use self::refold::refold_all;
pub(super) use self::{confirm::tell_task, queue::Messages};
use super::Sqlite;
use crate::{
    StoreError,
    confirmations::Opened,
    tasks::{
        Action, Asking, CallEnd, Changes, Done, Ending, EntryOf, Filter, Leased, Listed, Memories, Mistake,
        Mutation, NewChild, NewEnd, NewMessage, NewQuestion, NewRoot, OpenCall, Page, PageOf, Place,
        Recorded, Recovered, Resolution, RootCall, Stopped, Task, TaskCall, Tasks, Tree, Wanted, Wish,
        entry::Entry,
    },
};
use toolwire_base::digest::Digest;
use toolwire_contract::ConfirmationId;
use toolwire_tool::context::{CallId, RequestId, TaskId, UserId};

impl Tasks for Sqlite {
    fn create_root<'a>(&'a self, new: &'a NewRoot, mutation: Mutation, now: SystemTime) -> Done<'a, Task> {
        Box::pin(async move { self.told(self.create_root_task(new, mutation, now).await) })
    }

    fn start_root<'a>(&'a self, call: &'a RootCall, new: &'a NewRoot, now: SystemTime) -> Done<'a, Action> {
        Box::pin(async move { self.told(self.start_root_task(call, new, now).await) })
    }

    fn task<'a>(&'a self, user: &'a UserId, id: &'a TaskId) -> Done<'a, Task> {
        Box::pin(async move { self.told(self.user_task(user, id).await) })
    }

    fn tree<'a>(&'a self, user: &'a UserId, id: &'a TaskId) -> Done<'a, Tree> {
        Box::pin(async move { self.told(self.tree_of_task(user, id).await) })
    }

    fn tasks<'a>(
        &'a self,
        user: &'a UserId,
        filter: &'a Filter,
        from: Option<Place>,
        limit: u32,
    ) -> Done<'a, Listed> {
        Box::pin(async move { self.told(self.listed_tasks(user, filter, from, limit).await) })
    }

    fn task_changes<'a>(
        &'a self,
        user: &'a UserId,
        filter: &'a Filter,
        after: u64,
        limit: u32,
    ) -> Done<'a, Changes> {
        Box::pin(async move { self.told(self.changed_tasks(user, filter, after, limit).await) })
    }

    fn lease<'a>(&'a self, user: &'a UserId, wish: &'a Wish, now: SystemTime) -> Done<'a, Option<Leased>> {
        Box::pin(async move {
            let done = self.lease_task(user, wish, now).await;
            match &wish.wanted {
                Wanted::Task(id, _) => self.told_in_time(id, now, done).await,
                Wanted::AnyOf(_) => self.told(done),
            }
        })
    }

    fn release<'a>(&'a self, user: &'a UserId, id: &'a TaskId, token: u64, now: SystemTime) -> Done<'a, ()> {
        Box::pin(async move { self.told(self.release_task(user, id, token, now).await) })
    }

    fn begin_call<'a>(
        &'a self,
        call: &'a TaskCall,
        asking: Option<Asking<'a>>,
        now: SystemTime,
    ) -> Done<'a, Opened> {
        Box::pin(async move {
            let done = self.begin_task_call(call, asking, now).await;
            self.told_in_time(&call.task, now, done).await
        })
    }

    fn end_call<'a>(&'a self, call: &'a TaskCall, end: CallEnd<'a>, now: SystemTime) -> Done<'a, Recorded> {
        Box::pin(async move { self.told(self.end_task_call(call, end, now).await) })
    }

    fn suspend_call<'a>(
        &'a self,
        call: &'a TaskCall,
        confirmation: &'a ConfirmationId,
        now: SystemTime,
    ) -> Done<'a, Recorded> {
        Box::pin(async move { self.told(self.suspend_task_call(call, confirmation, now).await) })
    }

    fn forget_call<'a>(&'a self, call: &'a TaskCall, code: &'a str) -> Done<'a, ()> {
        Box::pin(async move { self.told(self.forget_task_call(call, code).await) })
    }

    fn log<'a>(&'a self, call: &'a TaskCall, now: SystemTime) -> Done<'a, Action> {
        Box::pin(async move {
            let done = self.log_task_call(call, now).await;
            self.told_in_time(&call.task, now, done).await
        })
    }

    fn hand_off<'a>(
        &'a self,
        call: &'a TaskCall,
        result: &'a Map<String, Value>,
        documents: &'a [String],
        now: SystemTime,
    ) -> Done<'a, Ending<Action>> {
        Box::pin(async move {
            let done = self.hand_off_task(call, result, documents, now).await;
            self.told_in_time(&call.task, now, done).await
        })
    }

    fn delegate<'a>(&'a self, call: &'a TaskCall, child: &'a NewChild, now: SystemTime) -> Done<'a, Action> {
        Box::pin(async move {
            let done = self.delegate_task(call, child, now).await;
            self.told_in_time(&call.task, now, done).await
        })
    }

    fn ask<'a>(&'a self, call: &'a TaskCall, question: &'a NewQuestion, now: SystemTime) -> Done<'a, Action> {
        Box::pin(async move {
            let done = self.ask_in_task(call, question, now).await;
            self.told_in_time(&call.task, now, done).await
        })
    }

    fn append_message<'a>(
        &'a self,
        user: &'a UserId,
        id: &'a TaskId,
        message: &'a NewMessage,
        mutation: Mutation,
        now: SystemTime,
    ) -> Done<'a, u64> {
        Box::pin(async move {
            let done = self.append_task_message(user, id, message, mutation, now).await;
            self.told_in_time(id, now, done).await
        })
    }

    fn end_task<'a>(
        &'a self,
        user: &'a UserId,
        id: &'a TaskId,
        end: &'a NewEnd,
        lease_token: u64,
        mutation: Mutation,
        now: SystemTime,
    ) -> Done<'a, Ending<Task>> {
        Box::pin(async move {
            let done = self.end_user_task(user, id, end, lease_token, mutation, now).await;
            self.told_in_time(id, now, done).await
        })
    }

    fn cancel_task<'a>(
        &'a self,
        user: &'a UserId,
        id: &'a TaskId,
        reason: &'a str,
        now: SystemTime,
    ) -> Done<'a, Ending<Task>> {
        Box::pin(async move { self.told(self.cancel_user_task(user, id, reason, now).await) })
    }

    fn answer_question<'a>(
        &'a self,
        user: &'a UserId,
        id: &'a TaskId,
        answer: &'a str,
        documents: &'a [String],
        now: SystemTime,
    ) -> Done<'a, Ending<Task>> {
        Box::pin(async move {
            let done = self.answer_user_question(user, id, answer, documents, now).await;
            self.told_in_time(id, now, done).await
        })
    }

    fn resolve_unknown<'a>(
        &'a self,
        user: &'a UserId,
        id: &'a TaskId,
        call_id: CallId,
        resolution: &'a Resolution,
        reason: &'a str,
        now: SystemTime,
    ) -> Done<'a, Task> {
        Box::pin(async move {
            self.told(self.resolve_unknown_call(user, id, call_id, resolution, reason, now).await)
        })
    }

    fn credentials_given<'a>(
        &'a self,
        user: &'a UserId,
        source: &'a str,
        now: SystemTime,
    ) -> Done<'a, usize> {
        Box::pin(async move { self.told(self.answer_credentials(user, source, now).await) })
    }

    fn page<'a>(&'a self, user: &'a UserId, id: &'a TaskId, page: PageOf) -> Done<'a, Page> {
        Box::pin(async move { self.told(self.timeline_page(user, id, page).await) })
    }

    fn entry<'a>(&'a self, user: &'a UserId, id: &'a TaskId, sequence: u64) -> Done<'a, Option<Entry>> {
        Box::pin(async move { self.told(self.whole_entry(user, id, sequence).await) })
    }

    fn entry_of<'a>(
        &'a self,
        user: &'a UserId,
        id: &'a TaskId,
        request_id: RequestId,
    ) -> Done<'a, Option<EntryOf>> {
        Box::pin(async move { self.told(self.entry_of_call(user, id, request_id).await) })
    }

    fn open_calls<'a>(&'a self, user: &'a UserId, id: &'a TaskId) -> Done<'a, Vec<OpenCall>> {
        Box::pin(async move { self.told(self.open_calls_of(user, id).await) })
    }

    fn note_mistake<'a>(&'a self, mistake: &'a Mistake, now: SystemTime) -> Done<'a, u64> {
        Box::pin(self.note_task_mistake(mistake, now))
    }

    fn memories<'a>(&'a self, user: &'a UserId, id: &'a TaskId, limit: u32) -> Done<'a, Memories> {
        Box::pin(async move { self.told(self.notes_of(user, id, limit).await) })
    }

    fn secret<'a>(&'a self, id: &'a TaskId) -> Done<'a, Digest> {
        Box::pin(async move { self.told(self.secret_of_task(id).await) })
    }

    fn followed(&self) -> BoxFuture<'_, Result<watch::Receiver<u64>, StoreError>> {
        Box::pin(self.follow_tasks())
    }

    fn recover(&self, now: SystemTime) -> Done<'_, Recovered> {
        Box::pin(async move { self.told(self.recover_tasks(now).await) })
    }

    fn expire_tasks(&self, now: SystemTime) -> Done<'_, Stopped> {
        Box::pin(async move { self.told(self.expire_overdue_tasks(now).await) })
    }

    fn sweep_tasks(&self, keep: Duration, now: SystemTime) -> Done<'_, bool> {
        Box::pin(async move { self.told(self.sweep_old_tasks(keep, now).await) })
    }

    fn delete_tree<'a>(&'a self, user: &'a UserId, root: &'a TaskId, now: SystemTime) -> Done<'a, ()> {
        Box::pin(async move { self.told(self.delete_user_tree(user, root, now).await) })
    }
}
