"""Works on tasks of one role as an agent: `python agent.py ROLE`. `model` stands for the SDK of your provider."""

import sys
import uuid

from google.protobuf import duration_pb2, struct_pb2

from client import metadata, open_channel
from toolwire.tasks.v1 import task_service_pb2 as pb, task_service_pb2_grpc, timeline_pb2

HOLDER = "agent.py"


def new_id():
    return str(uuid.uuid4())


def model(system, messages):
    """Answers what it is shown: a text, and the uses of tools as (identifier, tool, arguments as JSON text)."""
    has_thought = any(block.HasField("tool_use") for message in messages for block in message.blocks)
    if has_thought:
        return "Done.", []
    return "Let me think.", [(f"use_{new_id()}", "stop_and_think", '{"thoughts": "It is done already."}')]


class Agent:
    """One that has the lease of a task."""

    def __init__(self, tasks, leased, model):
        self.tasks, self.model = tasks, model
        self.task_id, self.token = leased.task.task_id, leased.task.lease.token
        self.open_calls = leased.open_calls

    def call(self, **call):
        request = pb.HandleToolCallRequest(task_id=self.task_id, lease_token=self.token, **call)
        return self.tasks.HandleToolCall(request, metadata=metadata).action

    def go_on(self):
        """Makes each call again that has no end yet: what was approved is carried out, what is under way waited for."""
        for call in self.open_calls:
            action = self.call(
                tool=call.tool, arguments_json=call.input_json, request_id=call.request_id, step=call.step,
                position=call.position, tool_call_id=call.tool_call_id,
            )
            if action != "continue":
                return action
        return "continue"

    def respond(self, step):
        """Asks the model once, and calls what it wants."""
        renewal = pb.LeaseTaskRequest(task_id=self.task_id, holder=HOLDER, token=self.token)
        self.tasks.LeaseTask(renewal, metadata=metadata)
        rendered = self.tasks.RenderForModel(pb.RenderForModelRequest(task_id=self.task_id), metadata=metadata)
        text, uses = self.model(rendered.system, rendered.messages)
        if not uses:
            result = struct_pb2.Struct()
            result.update({"text": text})
            end = pb.EndTaskRequest(
                task_id=self.task_id, completed=pb.CompletedEnd(result=result), lease_token=self.token,
                request_id=new_id(),
            )
            self.tasks.EndTask(end, metadata=metadata)
            return "return"
        if text:
            said = timeline_pb2.Message(role=timeline_pb2.MESSAGE_ROLE_ASSISTANT, text=text)
            message = pb.AppendMessageRequest(
                task_id=self.task_id, message=said, step=step, lease_token=self.token, request_id=new_id(),
            )
            self.tasks.AppendMessage(message, metadata=metadata)
        actions = []
        for position, (use, tool, arguments) in enumerate(uses):
            # All calls of a response are of one step, and are taken although one of them blocks the task.
            actions.append(self.call(
                tool=tool, arguments_json=arguments, request_id=new_id(), step=step, position=position,
                tool_call_id=use,
            ))
            if actions[-1] == "return":
                break
        return next((action for action in actions if action != "continue"), "continue")

    def work(self):
        """Works until the task has ended, or waits for somebody. Then it is given back, to be leased when it goes on."""
        action = self.go_on()
        step = self.tasks.GetTask(pb.GetTaskRequest(task_id=self.task_id), metadata=metadata).task.newest_step
        while action == "continue":
            step += 1
            action = self.respond(step)
        self.tasks.ReleaseTask(pb.ReleaseTaskRequest(task_id=self.task_id, token=self.token), metadata=metadata)
        return action


def main(role):
    with open_channel() as channel:
        tasks = task_service_pb2_grpc.TaskServiceStub(channel)
        wish = pb.LeaseTaskRequest(any_of=pb.Roles(roles=[role]), holder=HOLDER, wait=duration_pb2.Duration(seconds=60))
        while True:
            leased = tasks.LeaseTask(wish, metadata=metadata)
            if leased.HasField("task"):
                print(leased.task.task_id, Agent(tasks, leased, model).work(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
