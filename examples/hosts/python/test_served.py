"""Tools by a server of the test's own: who calls, what a person approves, and what a repeat does."""

import database
import pytest
import report

from toolwire import Chunk, ConfirmationRequired, Conflict, InvalidArgument, ToolError, Toolwire


@pytest.fixture
def served(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "DATABASE", str(tmp_path / "notes.db"))
    monkeypatch.setattr(report, "REPORTS", tmp_path / "reports")
    try:
        tools = Toolwire.local()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    with tools:
        yield tools


def test_notes_are_those_of_the_caller(served):
    note = served.call("add_note", {"text": "milk"}).data
    assert served.call("list_notes").data == {"result": [note]}
    with pytest.raises(InvalidArgument):
        served.call("list_notes", {"user": "somebody"})


def test_a_note_is_deleted_once_it_is_done_and_a_person_approves(served):
    note = {"note": served.call("add_note", {"text": "milk"}).data["id"]}
    with pytest.raises(Conflict):
        delete(served, note)
    assert served.call("finish_note", note).data == served.call("finish_note", note).data
    assert delete(served, note).data["state"] == "done"
    assert served.call("list_notes", {"state": "done"}).data == {"result": []}


def delete(tools, note):
    """The call of an agent, and the approval of a person, who types the tool's name."""
    with pytest.raises(ConfirmationRequired) as required:
        tools.call("delete_note", note)
    tools.approve(required.value, tool="delete_note")
    return tools.call("delete_note", note, request_id=required.value.request_id)


def test_a_report_that_is_cancelled_goes_on_where_it_was(served):
    events = served.stream("write_report", {"topic": "Q3", "pages": 3})
    call_id = next(events).call_id
    chunk = next(event for event in events if isinstance(event, Chunk))
    assert chunk.data["page"] == 1
    # To leave the events is not enough: a write that has begun goes on without its caller.
    assert served.cancel(call_id)
    with pytest.raises(ToolError):
        list(events)
    assert len((report.REPORTS / "Q3.txt").read_text().splitlines()) == 1
    assert served.call("write_report", {"topic": "Q3", "pages": 3}).data["pages"] == 3
