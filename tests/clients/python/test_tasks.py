"""A complete flow of tasks as an agent backend in Python drives it, written from docs/TASKS.md,
docs/WORKSPACE.md and the protos alone: a root delegates to an analyst, who delegates to a visualizer, documents go down
and up again, and a question goes to the person."""

import hashlib
import json
import sys
import uuid
from pathlib import Path

import grpc
import pytest
from google.protobuf import json_format, struct_pb2

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples/clients/python"))

import agent as example
from toolwire.tasks.v1 import task_pb2, task_service_pb2 as pb, task_service_pb2_grpc
from toolwire.v1 import confirmation_service_pb2
from toolwire.workspace.v1 import workspace_service_pb2 as documents_pb, workspace_service_pb2_grpc

LIMIT = 10
SALES = "month,revenue\n2024-07,100\n2024-08,115\n"


def new_id():
    return str(uuid.uuid4())


class Agent:
    """One that works on a task."""

    def __init__(self, tasks, task_id, lease_token=0):
        self.tasks, self.task_id, self.lease_token, self.step = tasks, task_id, lease_token, 0

    def handle(self, tool, **arguments):
        self.step += 1
        request = pb.HandleToolCallRequest(
            task_id=self.task_id, tool=tool, arguments_json=json.dumps(arguments), request_id=new_id(),
            tool_call_id=f"toolu_{self.step}", step=self.step, lease_token=self.lease_token,
        )
        return self.tasks.HandleToolCall(request, timeout=LIMIT)

    def task(self):
        return self.tasks.GetTask(pb.GetTaskRequest(task_id=self.task_id), timeout=LIMIT).task

    def state(self):
        return self.task().state


@pytest.fixture
def tasks(channel):
    return task_service_pb2_grpc.TaskServiceStub(channel)


@pytest.fixture
def workspace(channel):
    return workspace_service_pb2_grpc.WorkspaceServiceStub(channel)


@pytest.fixture
def root(tasks):
    """A root with one document, cancelled at the end."""
    request = pb.CreateTaskRequest(
        request="Report on Q3 sales", request_id=new_id(),
        documents=[pb.InitialDocument(path="sales_raw.csv", text=SALES)],
    )
    created = tasks.CreateTask(request, timeout=LIMIT).task
    again = tasks.CreateTask(request, timeout=LIMIT).task
    assert again.task_id == created.task_id, "the same request_id is the same task"
    yield Agent(tasks, created.task_id)
    tasks.CancelTask(pb.CancelTaskRequest(task_id=created.task_id, reason="The test is over"), timeout=LIMIT)


def leased(tasks, task_id):
    lease = tasks.LeaseTask(pb.LeaseTaskRequest(task_id=task_id, holder="a test"), timeout=LIMIT)
    return Agent(tasks, task_id, lease.task.lease.token)


def put(workspace, task_id, path, content, **header):
    parts = [documents_pb.PutDocumentRequest(header=documents_pb.PutHeader(
        task_id=task_id, path=path, request_id=new_id(), digest=hashlib.sha256(content).hexdigest(), **header))]
    parts += [documents_pb.PutDocumentRequest(chunk=content[at:at + 65536]) for at in range(0, len(content), 65536)]
    return workspace.PutDocument(iter(parts), timeout=LIMIT).document


def get(workspace, task_id, path):
    parts = workspace.GetDocument(documents_pb.GetDocumentRequest(task_id=task_id, path=path), timeout=LIMIT)
    document = next(parts).document
    return document, b"".join(part.chunk for part in parts)


def timeline(tasks, task_id):
    entries, sequence = [], 0
    while sequence is not None:
        page = tasks.ListTimeline(pb.ListTimelineRequest(task_id=task_id, sequence=sequence, page_size=3), timeout=LIMIT)
        entries += page.entries
        sequence = page.next_sequence if page.HasField("next_sequence") else None
    assert [entry.sequence for entry in entries] == list(range(len(entries))), "gapless from 0"
    return entries


def short(entries):
    return [entry.WhichOneof("entry") for entry in entries]


def test_the_complete_flow(tasks, workspace, root):
    blocked = root.handle("route_to_analyst", request="Analyze Q3 sales", documents=["sales_raw.csv"])
    assert (blocked.action, blocked.block.status) == ("block", f"→ delegated (task {blocked.block.task_id})")
    assert root.state() == task_pb2.TASK_STATE_BLOCKED

    analyst = leased(tasks, blocked.block.task_id)
    assert list(analyst.task().documents) == ["sales_raw.csv"]
    loaded = analyst.handle("load_to_context", path="sales_raw.csv")
    assert loaded.action == "continue"
    assert json_format.MessageToDict(loaded.result.data)["content"] == SALES
    assert analyst.handle("stop_and_think", thoughts="A chart shows it best").result.data["logged"]
    written = analyst.handle("write_file", path="analysis.md", content="# Q3\n\nSales went up by 15 %.\n")
    assert written.result.data["version"] == 1
    total = analyst.handle("ask_data", path="sales_raw.csv", select=[{"column": "revenue", "function": "sum"}])
    assert json_format.MessageToDict(total.result.data)["rows"] == [[215.0]]
    blocked = analyst.handle("route_to_visualizer", request="Create charts", documents=["sales_raw.csv", "analysis.md"])

    visualizer = leased(tasks, blocked.block.task_id)
    chart = b"\x89PNG\r\n\x1a\n" + bytes(200_000)
    put(workspace, visualizer.task_id, "charts.png", chart, why="the chart")
    ended = visualizer.handle("handoff", result={"charts_created": 1}, documents=["charts.png"])
    assert ended.action == "return"
    assert json_format.MessageToDict(ended.value)["result"] == {"charts_created": 1.0}
    assert visualizer.state() == task_pb2.TASK_STATE_COMPLETED

    assert analyst.state() == task_pb2.TASK_STATE_RUNNING
    assert analyst.handle("handoff", result={"analysis": "complete"}, documents=["analysis.md", "charts.png"]).action == "return"
    assert root.state() == task_pb2.TASK_STATE_RUNNING
    document, content = get(workspace, root.task_id, "charts.png")
    assert (content, document.mime_type) == (chart, "image/png")
    answer = timeline(tasks, root.task_id)[-1].answer
    assert json.loads(answer.result_json) == {"analysis": "complete"}
    assert [it.path for it in answer.documents] == ["analysis.md", "charts.png"]

    result = struct_pb2.Struct()
    result.update({"text": "Q3 sales are up by 15 %."})
    end = pb.EndTaskRequest(task_id=root.task_id, request_id=new_id(), completed=pb.CompletedEnd(result=result))
    assert tasks.EndTask(end, timeout=LIMIT).task.state == task_pb2.TASK_STATE_COMPLETED
    followed = list(tasks.WatchTimeline(pb.WatchTimelineRequest(task_id=root.task_id), timeout=LIMIT))
    kinds = [event.WhichOneof("event") for event in followed]
    assert kinds[0] == "snapshot" and kinds.count("entry") == 4
    assert short(timeline(tasks, root.task_id)) == ["created", "tool_call", "answer", "ended"]


def test_a_person_answers_what_an_agent_asks(tasks, root):
    asked = root.handle("ask_master", question="Which year?", documents=["sales_raw.csv"])
    assert (asked.action, asked.block.status) == ("block", "→ asked a person")
    answer = pb.AnswerQuestionRequest(task_id=asked.block.task_id, answer="2024")
    assert tasks.AnswerQuestion(answer, timeout=LIMIT).task.state == task_pb2.TASK_STATE_COMPLETED
    tasks.AnswerQuestion(answer, timeout=LIMIT)
    with pytest.raises(grpc.RpcError) as refused:
        tasks.AnswerQuestion(pb.AnswerQuestionRequest(task_id=asked.block.task_id, answer="2023"), timeout=LIMIT)
    assert refused.value.code() == grpc.StatusCode.FAILED_PRECONDITION
    assert root.state() == task_pb2.TASK_STATE_RUNNING
    assert timeline(tasks, root.task_id)[-1].answer.status.startswith("← answer from")


def test_a_task_that_is_over_takes_nothing(tasks, root):
    tasks.CancelTask(pb.CancelTaskRequest(task_id=root.task_id), timeout=LIMIT)
    with pytest.raises(grpc.RpcError) as refused:
        root.handle("stop_and_think", thoughts="?")
    assert refused.value.code() == grpc.StatusCode.FAILED_PRECONDITION
    assert "cancelled" in refused.value.details()


def test_a_model_is_shown_the_timeline(tasks, root):
    root.handle("stop_and_think", thoughts="First the months")
    rendered = tasks.RenderForModel(pb.RenderForModelRequest(task_id=root.task_id, token_budget=4000), timeout=LIMIT)
    assert rendered.tokens <= 4000 and not rendered.cuts
    roles = [message.role for message in rendered.messages]
    assert all(one != two for one, two in zip(roles, roles[1:])), "roles alternate"
    uses = [block.tool_use for message in rendered.messages for block in message.blocks if block.HasField("tool_use")]
    assert [use.tool for use in uses] == ["stop_and_think"]


def begun(tasks, role):
    request = pb.CreateTaskRequest(request="Work", role=role, request_id=new_id())
    return tasks.CreateTask(request, timeout=LIMIT).task.task_id


def scripted(*responses):
    """A model that says these one after the other, and what it was shown."""
    left, shown = list(responses), []

    def model(system, messages):
        shown.append((system, messages))
        return left.pop(0)

    return model, shown


def worked(tasks, task_id, model):
    leased = tasks.LeaseTask(pb.LeaseTaskRequest(task_id=task_id, holder="a test"), timeout=LIMIT)
    return example.Agent(tasks, leased, model).work()


def results(messages):
    blocks = [block for message in messages for block in message.blocks]
    return [(it.tool_result.tool, it.tool_result.is_error) for it in blocks if it.HasField("tool_result")]


def test_the_printed_loop_tells_a_model_its_mistakes_and_keeps_what_it_says(tasks):
    task_id = begun(tasks, "loops")
    model, shown = scripted(
        ("First this.", [("a", "get_performance", '{"timefram": "YTD"}'), ("b", "invented.tool", "{}")]),
        ("Then that.", [("c", "stop_and_think", '{"thoughts": "So."}')]),
        ("All done.", []),
    )
    assert worked(tasks, task_id, model) == "return"
    assert results(shown[1][1]) == [("get_performance", True), ("invented_tool", True)]
    assert results(shown[2][1])[2:] == [("stop_and_think", False)]
    said = [block.text for message in shown[2][1] for block in message.blocks if block.HasField("text")]
    assert said == ["Work", "First this.", "Then that."]
    entries = timeline(tasks, task_id)
    assert [entry.step for entry in entries if entry.step] == [1, 1, 1, 2, 2]
    task = tasks.GetTask(pb.GetTaskRequest(task_id=task_id), timeout=LIMIT).task
    assert (task.state, task.newest_step) == (task_pb2.TASK_STATE_COMPLETED, 2)
    assert not task.HasField("lease"), "nobody works on what is over"


def test_the_printed_loop_carries_out_what_a_person_approved(tasks, confirmations):
    task_id = begun(tasks, "payer")
    model, shown = scripted(("", [("pay", "debug_confirm", '{"value": "x"}')]), ("Paid.", []))
    assert worked(tasks, task_id, model) == "block"
    task = tasks.GetTask(pb.GetTaskRequest(task_id=task_id), timeout=LIMIT).task
    confirmation = next(wait.confirmation_id for wait in task.waiting)
    approve = confirmation_service_pb2.Approve(tool="debug_confirm")
    confirmations.DecideConfirmation(confirmation_service_pb2.DecideConfirmationRequest(
        confirmation_id=confirmation, approve=approve), timeout=LIMIT)
    assert worked(tasks, task_id, model) == "return"
    assert results(shown[1][1]) == [("debug_confirm", False)]
    paid = [entry.answer for entry in timeline(tasks, task_id) if entry.HasField("answer")]
    assert [json.loads(answer.result_json)["writes"] >= 1 for answer in paid] == [True], "once"
