//! The state of one stream: its slot, the call on it, and what the pool knows of it.

use std::sync::Arc;

use tokio::{sync::mpsc, time::Instant};

use super::{
    chunk::{self, Fault},
    outgoing::Outgoing,
};
use crate::{
    end::End,
    hub::{Admitted, GreetingReply, Hub},
    pool::{Command, Handle},
    slot::{Due, Greeting, Leave, Received, Slot},
    start::{CallEnd, CallEvent, Reports, Start, Write},
    wire::{self, WorkRequest, outcome::Outcome, work_response::Message},
};
use toolwire_base::clock;
use toolwire_providers::ids::InstanceId;
use toolwire_tool::context::{CallId, Cancellation};

#[derive(Debug)]
pub(super) struct Session {
    hub: Hub,
    admitted: Admitted,
    commands: mpsc::UnboundedSender<Command>,
    slot: Slot,
    /// The process of the host, once it was welcome.
    instance: Option<InstanceId>,
    /// Its host has asked to leave.
    is_leaving: bool,
    /// Once the slot takes calls.
    joined: Option<Handle>,
    /// The call under way.
    call: Option<Running>,
    /// What the caller has not taken yet.
    pending: Option<CallEvent>,
    /// The call that ended on this stream last, if it is a write: its host says its `Outcome` again if the stream is
    /// lost before it reads the next `Start`.
    last_write: Option<CallId>,
}

/// A call that was started on the slot.
#[derive(Debug)]
struct Running {
    call: CallId,
    write: Option<Arc<Write>>,
    reports: Reports,
    /// Why its caller lacks a part of its data.
    fault: Option<Fault>,
}

impl Session {
    pub(super) fn new(hub: Hub, admitted: Admitted, commands: mpsc::UnboundedSender<Command>) -> Self {
        let slot = Slot::open(clock::now());
        Self {
            hub,
            admitted,
            commands,
            slot,
            instance: None,
            is_leaving: false,
            joined: None,
            call: None,
            pending: None,
            last_write: None,
        }
    }

    /// Cancelled when the grace of a drain is over.
    pub(super) fn shut_down(&self) -> Cancellation {
        self.hub.shutting_down().clone()
    }

    pub(super) fn has_pending(&self) -> bool {
        self.pending.is_some()
    }

    pub(super) fn next_poll(&self) -> Instant {
        self.slot.next_poll()
    }

    pub(super) fn resume_reading(&mut self) {
        self.slot.resume_reading(clock::now());
    }

    pub(super) fn half_close(&self) -> End {
        self.slot.half_close()
    }

    pub(super) fn poll(&mut self, outgoing: &mut Outgoing) -> Result<(), End> {
        if self.slot.poll(clock::now())? == Due::Ping {
            outgoing.push(Message::Ping(wire::Ping {}));
        }
        Ok(())
    }

    /// Gives the caller what is pending, as soon as it takes it. Cancel safe.
    pub(super) async fn hand_over(&mut self) {
        let Some(call) = &self.call else {
            self.pending = None;
            return;
        };
        if let Ok(permit) = call.reports.events.reserve().await
            && let Some(event) = self.pending.take()
        {
            permit.send(event);
        }
        // Nothing waits for the call any more: its host still ends it, and until then what it says is dropped.
        self.pending = None;
    }

    /// Does what the pool or the call asks for.
    pub(super) fn handle(&mut self, command: Command, outgoing: &mut Outgoing) {
        let now = clock::now();
        match command {
            Command::Start(start) => self.start(start, now, outgoing),
            Command::Cancel(call, reason) => {
                if self.call.as_ref().is_some_and(|it| it.call == call) {
                    let cancel = wire::Cancel { call_id: call.to_string(), reason: reason.into() };
                    outgoing.push(Message::Cancel(cancel));
                    self.slot.note_sent(now);
                }
            }
            Command::Leave(leave) => self.leave(leave, now, outgoing),
            Command::LateTaken(call) => self.answer_late(call, now, outgoing),
        }
    }

    /// The connection, or the token of the host, ends: the host reads the reason. A slot that is not welcome yet has
    /// nothing to end.
    pub(super) fn end_connection(&mut self, reason: &str, outgoing: &mut Outgoing) -> Result<(), End> {
        if !self.slot.is_welcome() {
            return Err(End::ShuttingDown);
        }
        self.leave(crate::pool::leave(reason), clock::now(), outgoing);
        Ok(())
    }

    pub(super) async fn receive(&mut self, request: WorkRequest, outgoing: &mut Outgoing) -> Result<(), End> {
        let now = clock::now();
        match self.slot.receive(request.message, now)? {
            Received::Greeting(greeting) => self.greet(greeting, None, outgoing).await?,
            Received::Offers(greeting, offers) => self.greet(greeting, Some(offers), outgoing).await?,
            Received::Progress { fraction, message } => {
                self.pending = Some(CallEvent::Progress(fraction, message));
            }
            Received::Chunk(text) => self.take_chunk(text, outgoing).await,
            Received::Outcome(outcome) => self.end_call(outcome),
            Received::Late(call, outcome) => self.take_late(call, outcome, now, outgoing),
            Received::WantsLeave => {
                self.is_leaving = true;
                self.leave(crate::pool::leave("the host asked for it"), now, outgoing);
            }
            Received::Nothing => {}
        }
        Ok(())
    }

    /// The stream has ended: its call is lost. An event that its caller has not taken is dropped with it.
    pub(super) async fn close(&mut self, end: &End) {
        let Some(handle) = self.joined.take() else { return };
        // What its host says of it later comes as of a lost slot, and so does what came last if OK does not answer it.
        let known = self.last_write.take().filter(|_| *end != End::Left);
        let running = self.call.take();
        let write = running.as_ref().filter(|it| it.write.is_some()).map(|it| it.call);
        for call in known.into_iter().chain(write) {
            self.hub.lose_write(&handle, call);
        }
        // At once: a read goes on elsewhere, unless it would end there as it did here.
        if let Some(call) = running {
            let is_too_large = *end == End::MessageTooLarge && call.write.is_none();
            let lost = if is_too_large { CallEnd::Outcome(chunk::too_large()) } else { CallEnd::Lost };
            let _ = call.reports.end.send(lost);
        }
        self.hub.detach(&handle, self.is_leaving).await;
    }

    /// A call that still stands in the queue was not sent.
    pub(super) fn take_back(&mut self, outgoing: &Outgoing) {
        if let Some(call) = self.call.take_if(|call| outgoing.holds(call.call)) {
            if let Some(handle) = self.joined.as_ref().filter(|_| call.write.is_some()) {
                self.hub.end_write(handle, call.call);
            }
            let _ = call.reports.end.send(CallEnd::Unsent);
        }
    }

    fn start(&mut self, start: Box<Start>, now: Instant, outgoing: &mut Outgoing) {
        let Start { call, message, write, reports } = *start;
        let Some(handle) = self.joined.as_ref().filter(|_| self.slot.start(call, now)) else {
            // It began to leave when the call was on its way here.
            let _ = reports.end.send(CallEnd::Unsent);
            return;
        };
        let write = write.map(|(write, waiter)| {
            self.hub.start_write(handle, Arc::clone(&write), waiter);
            write
        });
        outgoing.push(Message::Start(message));
        self.call = Some(Running { call, write, reports, fault: None });
    }

    fn leave(&mut self, leave: wire::Leave, now: Instant, outgoing: &mut Outgoing) {
        if self.slot.leave(now) == Leave::Send {
            outgoing.push(Message::Leave(leave));
            if let Some(handle) = &self.joined {
                self.hub.pool().remove(handle);
            }
        }
    }

    async fn greet(
        &mut self,
        greeting: Greeting,
        offers: Option<Vec<wire::Offer>>,
        outgoing: &mut Outgoing,
    ) -> Result<(), End> {
        let greeted = self.hub.greet(&mut self.admitted, &greeting, offers, &self.commands).await?;
        let now = clock::now();
        self.instance = Some(greeting.instance.clone());
        match greeted {
            GreetingReply::AskForOffers => {
                let provider = self.admitted.provider.to_string();
                let welcome = wire::Welcome { send_catalogue: true, provider, ..wire::Welcome::default() };
                outgoing.push(Message::Welcome(welcome));
                self.slot.ask_for_offers(greeting, now);
            }
            GreetingReply::Welcome(welcome, handle) => {
                outgoing.push(Message::Welcome(welcome));
                self.slot.welcome(now);
                self.joined = Some(handle);
            }
            GreetingReply::Superseded(welcome, leave) => {
                outgoing.push(Message::Welcome(welcome));
                self.slot.welcome(now);
                self.leave(leave, now, outgoing);
            }
        }
        Ok(())
    }

    /// Of a call that lacks a part of its data no more is passed on, and a read is asked to stop.
    async fn take_chunk(&mut self, text: String, outgoing: &mut Outgoing) {
        let chunk = chunk::read(text).await;
        let Some(running) = self.call.as_mut().filter(|it| it.fault.is_none()) else { return };
        match chunk {
            Ok(data) => self.pending = Some(CallEvent::Chunk(data)),
            Err(fault) => {
                running.fault = Some(fault);
                if running.write.is_none() {
                    let cancel = Command::Cancel(running.call, wire::CancelReason::Requested);
                    self.handle(cancel, outgoing);
                }
            }
        }
    }

    fn end_call(&mut self, outcome: Outcome) {
        let (Some(running), Some(handle)) = (self.call.take(), &self.joined) else { return };
        let Running { call, write, reports, fault } = running;
        let outcome = match fault {
            Some(fault) => fault.replace(outcome, write.is_some()),
            None => outcome,
        };
        self.last_write = write.as_ref().map(|_| call);
        if write.is_some() {
            self.hub.end_write(handle, call);
        }
        // Without a receiver the call is over for its caller, to whom its outcome is unknown.
        if let (Err(CallEnd::Outcome(outcome)), Some(write)) =
            (reports.end.send(CallEnd::Outcome(outcome)), write)
        {
            self.hub.replace(write, outcome);
        }
        if self.slot.is_idle() {
            self.hub.pool().release(handle);
        }
    }

    fn take_late(&mut self, call: CallId, outcome: Outcome, now: Instant, outgoing: &mut Outgoing) {
        let Some(instance) = &self.instance else { return };
        if self.hub.take_late((&self.admitted.provider, instance), call, outcome, &self.commands) {
            self.answer_late(call, now, outgoing);
        }
    }

    fn answer_late(&mut self, call: CallId, now: Instant, outgoing: &mut Outgoing) {
        outgoing.push(Message::LateTaken(wire::LateTaken { call_id: call.to_string() }));
        self.slot.note_sent(now);
    }
}
