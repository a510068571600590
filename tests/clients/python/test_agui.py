"""Conversations over HTTP, every event read by the models of `ag-ui-protocol`: chat, interrupt, resume."""

import json
import urllib.request
import uuid

import pytest
from ag_ui.core import Event, RunAgentInput, UserMessage
from pydantic import TypeAdapter

EVENT = TypeAdapter(Event)


@pytest.fixture(scope="session")
def http(request):
    address = request.config.getoption("--http")
    if not address:
        pytest.skip("no --http")
    return address


class Conversation:
    """Runs of one thread."""

    def __init__(self, http):
        self.http = http
        self.thread = str(uuid.uuid4())
        self.messages = []

    def run(self, resume=None):
        given = RunAgentInput(
            thread_id=self.thread, run_id=str(uuid.uuid4()), messages=self.messages, resume=resume or None
        )
        body = given.model_dump_json(by_alias=True, exclude_none=True).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(f"{self.http}/copilotkit/stream", body, headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert answer.headers["content-type"] == "text/event-stream"
            blocks = answer.read().decode().split("\n\n")
        lines = [line for block in blocks for line in block.split("\n") if line.startswith("data: ")]
        return [known(json.loads(line.removeprefix("data: "))) for line in lines]

    def say(self, text):
        self.messages.append(UserMessage(id=str(uuid.uuid4()), content=text))
        return self.run()


def known(told):
    """The event, of which every member is one that the model declares."""
    event = EVENT.validate_python(told)
    assert not event.model_extra, f"{told['type']} has members that AG-UI does not: {event.model_extra}"
    return event


def types(events):
    return [event.type.value for event in events]


def text(events):
    return "".join(event.delta for event in events if event.type.value == "TEXT_MESSAGE_CONTENT")


def test_a_question_is_answered_in_events_that_the_protocol_knows(http):
    events = Conversation(http).say("What is Apple trading at?")
    assert types(events)[0] == "RUN_STARTED" and types(events)[-1] == "RUN_FINISHED"
    assert "193.12" in text(events)
    results = [event for event in events if event.type.value == "TOOL_CALL_RESULT"]
    assert json.loads(results[0].content)["data"]["quotes"][0]["price"] == 193.12
    assert events[-1].outcome.type == "success"


@pytest.mark.parametrize("approved", [True, False])
def test_a_write_is_an_interrupt_that_the_next_run_answers(http, approved):
    conversation = Conversation(http)
    events = conversation.say(f"Add {'Trent' if approved else 'Suzlon'} to my watchlist")
    assert events[-1].outcome.type == "interrupt"
    (interrupt,) = events[-1].outcome.interrupts
    answer = {"interrupt_id": interrupt.id, "status": "resolved", "payload": {"approved": approved}}
    events = conversation.run([answer])
    (result,) = [event for event in events if event.type.value == "TOOL_CALL_RESULT"]
    assert result.tool_call_id == interrupt.tool_call_id
    assert json.loads(result.content)["success"] is approved
    assert events[-1].outcome.type == "success"
