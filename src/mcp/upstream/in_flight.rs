//! The requests of a connection that await their answers, and whose answer it is that names none of them.
//!
//! Over HTTP the response tells. A process has one output, so there an answer without an identifier, or with one that
//! no request ever had, is a stray: it ends the request that alone can be meant. Where several can, it counts as the
//! answer to one of them, and they end once there are no more of them than strays.

use std::collections::HashMap;

use rmcp::model::{ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerNotification};

use super::unreadable::{UNCLEAR, is_own};

const NOT_NAMED: &str = "it does not bear the identifier of a request";

#[derive(Debug, Default)]
pub(crate) struct InFlight {
    requests: HashMap<RequestId, Waiting>,
    /// The number of requests so far: rmcp numbers them from 0.
    sent: i64,
    /// What was sent that needs no answer, but may get an error without an identifier: from servers that answer
    /// notifications, or that were too slow.
    unanswered: usize,
    /// The number of requests when the last of these was sent.
    unanswered_since: i64,
    /// Answers of which each is that of one of the suspects.
    strays: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    Plain,
    /// A stray came since it was sent.
    Suspect,
    /// It may wait for as long as the connection lasts.
    Subscription,
}

impl InFlight {
    pub(crate) fn add(&mut self, id: &RequestId) {
        self.note_number(id);
        self.requests.insert(id.clone(), Waiting::Plain);
    }

    /// Adds the request of a handshake: an answer to one before is not awaited any more.
    pub(crate) fn add_handshake(&mut self, id: &RequestId) {
        self.unanswered += self.requests.drain().count();
        self.unanswered_since = self.sent;
        self.add(id);
    }

    pub(crate) fn add_subscription(&mut self, id: &RequestId) {
        self.note_number(id);
        self.requests.insert(id.clone(), Waiting::Subscription);
        self.note_unanswered();
    }

    pub(crate) fn note_unanswered(&mut self) {
        self.unanswered += 1;
        self.unanswered_since = self.sent;
    }

    pub(crate) fn contains(&self, id: &RequestId) -> bool {
        self.requests.contains_key(&plain(id))
    }

    /// Returns whether the request awaited its answer, which has come, or is not awaited any more.
    pub(crate) fn remove(&mut self, id: &RequestId) -> bool {
        let removed = self.requests.remove(&plain(id));
        if removed == Some(Waiting::Suspect) {
            // A stray may have been its answer: fewer are left for the others.
            self.strays = self.strays.saturating_sub(1);
        }
        removed.is_some()
    }

    /// Answers that may be of several requests.
    pub(crate) fn strays(&self) -> usize {
        self.strays
    }

    /// The message of a process, and the errors by which other requests end with it. What does not say that it is of
    /// JSON-RPC is no answer, unless it bears the identifier of a request.
    pub(crate) fn attribute(
        &mut self,
        message: ServerJsonRpcMessage,
        is_rpc: bool,
    ) -> Vec<ServerJsonRpcMessage> {
        let id = match &message {
            JsonRpcMessage::Notification(it) => {
                // Servers read in order.
                if matches!(it.notification, ServerNotification::SubscriptionsAcknowledgedNotification(_)) {
                    self.unanswered = 0;
                }
                return vec![message];
            }
            JsonRpcMessage::Request(_) => return vec![message],
            JsonRpcMessage::Response(it) => Some(&it.id),
            JsonRpcMessage::Error(it) => it.id.as_ref(),
        };
        match id.map(plain) {
            Some(RequestId::Number(number)) if (0..self.sent).contains(&number) => {
                self.note_answer(number);
                let mut messages = vec![message];
                messages.extend(self.end_suspects());
                messages
            }
            _ if !is_rpc => Vec::new(),
            None if self.unanswered > 0 => {
                self.unanswered -= 1;
                Vec::new()
            }
            _ => self.take_stray(message),
        }
    }

    fn note_number(&mut self, id: &RequestId) {
        if let RequestId::Number(number) = id {
            self.sent = self.sent.max(number + 1);
        }
    }

    fn note_answer(&mut self, number: i64) {
        if let Some(waiting @ Waiting::Suspect) = self.requests.get_mut(&RequestId::Number(number)) {
            *waiting = Waiting::Plain;
        }
        if number >= self.unanswered_since {
            self.unanswered = 0;
        }
    }

    fn take_stray(&mut self, message: ServerJsonRpcMessage) -> Vec<ServerJsonRpcMessage> {
        self.strays += 1;
        for waiting in self.requests.values_mut().filter(|it| **it == Waiting::Plain) {
            *waiting = Waiting::Suspect;
        }
        let mut ended = self.end_suspects();
        if let (JsonRpcMessage::Error(stray), [JsonRpcMessage::Error(only)]) = (message, &mut ended[..]) {
            only.error = stray.error;
            // Even where it is in place of a result, that may be of something else.
            if is_own(only.error.code) {
                only.error.code = UNCLEAR;
            }
        }
        ended
    }

    /// The errors by which the suspects end, if each has got its answer.
    fn end_suspects(&mut self) -> Vec<ServerJsonRpcMessage> {
        let suspects = self.requests.iter_mut().filter(|(_, waiting)| **waiting == Waiting::Suspect);
        let suspects: Vec<_> = suspects.collect();
        if suspects.len() > self.strays {
            return Vec::new();
        }
        self.strays = 0;
        let end = |(id, waiting): (&RequestId, &mut Waiting)| {
            *waiting = Waiting::Plain;
            let error = ErrorData::new(UNCLEAR, NOT_NAMED, None);
            ServerJsonRpcMessage::error(error, Some(id.clone()))
        };
        suspects.into_iter().map(end).collect()
    }
}

/// Whether two identifiers are of one request: some servers answer with the number as a text.
pub(crate) fn is_same(one: &RequestId, other: &RequestId) -> bool {
    plain(one) == plain(other)
}

fn plain(id: &RequestId) -> RequestId {
    match id {
        RequestId::String(text) => text.parse().map_or_else(|_| id.clone(), RequestId::Number),
        RequestId::Number(_) => id.clone(),
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::ErrorCode;

    use super::*;

    const OF_SERVER: ErrorCode = ErrorCode(1);

    fn number(id: i64) -> RequestId {
        RequestId::Number(id)
    }

    fn text(id: &str) -> RequestId {
        RequestId::String(id.into())
    }

    /// The requests that end by an error of this identifier, and the codes of their errors.
    fn error(in_flight: &mut InFlight, id: Option<RequestId>) -> Vec<(RequestId, ErrorCode)> {
        let error = ServerJsonRpcMessage::error(ErrorData::new(OF_SERVER, "no", None), id);
        let ended = in_flight.attribute(error, true).into_iter().filter_map(|message| {
            let JsonRpcMessage::Error(error) = message else { panic!("{message:?}") };
            let id = error.id.expect("an identifier");
            in_flight.remove(&id).then_some((id, error.error.code))
        });
        ended.collect()
    }

    #[test]
    fn a_stray_ends_the_only_request() {
        let mut in_flight = InFlight::default();
        assert_eq!(error(&mut in_flight, None), []);
        in_flight.add(&number(0));
        assert_eq!(error(&mut in_flight, Some(number(1))), [(number(0), OF_SERVER)]);
        in_flight.add(&number(1));
        assert_eq!(error(&mut in_flight, Some(number(0))), [], "late or repeated");
        assert_eq!(error(&mut in_flight, Some(text("x"))), [(number(1), OF_SERVER)]);
    }

    #[test]
    fn strays_end_as_many_requests_once_no_other_can_be_meant() {
        let mut in_flight = InFlight::default();
        for id in 0..3 {
            in_flight.add(&number(id));
        }
        assert_eq!(error(&mut in_flight, None), []);
        in_flight.add(&number(3));
        assert_eq!(error(&mut in_flight, Some(number(1))), [(number(1), OF_SERVER)]);
        // Its answer may have been the stray.
        assert!(in_flight.remove(&number(0)));
        assert_eq!(in_flight.strays(), 0);
        assert_eq!(error(&mut in_flight, None), []);
        assert_eq!(error(&mut in_flight, Some(text("2"))), [(text("2"), OF_SERVER), (number(3), UNCLEAR)]);
        assert!(in_flight.requests.is_empty() && in_flight.strays() == 0);
    }

    #[test]
    fn an_error_without_an_identifier_may_be_of_what_needs_no_answer() {
        let mut in_flight = InFlight::default();
        in_flight.add_handshake(&number(0));
        in_flight.add_handshake(&number(1));
        assert_eq!(error(&mut in_flight, None), [], "of the first");
        assert_eq!(error(&mut in_flight, None), [(number(1), OF_SERVER)]);
        in_flight.note_unanswered();
        in_flight.add(&number(2));
        assert_eq!(error(&mut in_flight, None), [], "of the notification");
        assert_eq!(error(&mut in_flight, Some(number(2))), [(number(2), OF_SERVER)]);
        in_flight.note_unanswered();
        for id in [3, 4] {
            in_flight.add(&number(id));
            error(&mut in_flight, Some(number(id)));
        }
        in_flight.add_subscription(&number(5));
        in_flight.add(&number(6));
        assert_eq!(error(&mut in_flight, None), [], "of the subscription");
        assert_eq!(error(&mut in_flight, None), [(number(6), OF_SERVER)]);
    }
}
