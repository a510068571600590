"""Users of two groups and an approver who signed in at the provider: each has the rights of the rules, and no others."""

import json
import re
import uuid

import grpc
import pytest
from toolwire.v1 import confirmation_service_pb2 as pb
from toolwire.v1 import confirmation_service_pb2_grpc, tool_service_pb2, tool_service_pb2_grpc

from faces import FACES, OK

LIMIT = 20


class Person:
    """A user with a token from signing in."""

    def __init__(self, server, provider, account, scope="tools"):
        self.token = provider.of_user(account, server.resource, scope)["access_token"]
        self.metadata = [("authorization", f"Bearer {self.token}")]
        self.channel = grpc.insecure_channel(server.address)
        self.tools = tool_service_pb2_grpc.ToolServiceStub(self.channel)
        self.confirmations = confirmation_service_pb2_grpc.ConfirmationServiceStub(self.channel)

    def listed(self):
        request = tool_service_pb2.ListToolsRequest()
        answers = self.tools.ListTools(request, timeout=LIMIT, metadata=self.metadata)
        return {answer.tool.name for answer in answers}

    def called(self, tool, arguments, request_id=None):
        """Returns the response to a call, or the status of its refusal."""
        request = tool_service_pb2.CallToolRequest(
            tool=tool, arguments_json=json.dumps(arguments), request_id=request_id
        )
        return self.reason(lambda: self.tools.CallTool(request, timeout=LIMIT, metadata=self.metadata))

    def decided(self, confirmation, tool):
        request = pb.DecideConfirmationRequest(confirmation_id=confirmation, approve=pb.Approve(tool=tool))
        return self.reason(
            lambda: self.confirmations.DecideConfirmation(request, timeout=LIMIT, metadata=self.metadata)
        )

    def pending(self):
        request = pb.ListConfirmationsRequest()
        answer = self.confirmations.ListConfirmations(request, timeout=LIMIT, metadata=self.metadata)
        return [it.confirmation_id for it in answer.confirmations]

    @staticmethod
    def reason(ask):
        try:
            return ask()
        except grpc.RpcError as error:
            return error.code().name


@pytest.fixture(scope="module")
def person(server, provider):
    people = {name: Person(server, provider, name) for name in ("alice", "bob", "carol", "dave")}
    yield people
    for each in people.values():
        each.channel.close()


def test_each_group_has_the_tools_of_its_rule_and_sees_no_others(person):
    alice, bob = person["alice"].listed(), person["bob"].listed()
    assert "get_fundamentals" in alice and all(name.startswith("get_") or name == "debug_stream" for name in alice)
    assert "debug_confirm" in bob and all(name.startswith("debug_") for name in bob)
    assert person["carol"].listed() == person["dave"].listed() == set()
    for name, tool in [("alice", "debug_write"), ("bob", "get_fundamentals"), ("dave", "get_fundamentals"), ("bob", "no_such")]:
        assert person[name].called(tool, {}) == "PERMISSION_DENIED", (name, tool)


@pytest.mark.parametrize("kind", FACES, ids=lambda kind: kind.__name__)
def test_a_refusal_does_not_tell_whether_there_is_a_tool(person, server, kind):
    face, token = kind(server), person["alice"].token
    there, not_there = (face.call(token, tool, {"value": "x"}) for tool in ("debug_write", "debug_nought"))
    assert there[0] != OK and without_ids(there).replace("debug_write", "debug_nought") == without_ids(not_there)
    face.close()


def without_ids(outcome):
    return re.sub(r"[0-9a-f-]{32,}", "…", " ".join(map(str, outcome)))


def test_a_token_without_the_scope_that_the_rule_demands_may_nothing(server, provider):
    alice = Person(server, provider, "alice", scope="write")
    assert alice.listed() == set()
    assert alice.called("get_fundamentals", {"symbol": "TCS"}) == "PERMISSION_DENIED"
    alice.channel.close()


def test_a_call_of_one_group_is_approved_by_another_and_done_once(person):
    bob, carol = person["bob"], person["carol"]
    call = ("debug_confirm", {"value": uuid.uuid4().hex}, str(uuid.uuid4()))
    asked = bob.called(*call).confirmation_required
    confirmation = asked.confirmation_id
    assert confirmation in bob.pending() and confirmation in carol.pending()
    assert confirmation not in person["alice"].pending()
    assert person["alice"].decided(confirmation, "debug_confirm") == "NOT_FOUND"
    assert bob.decided(confirmation, "debug_confirm") == "PERMISSION_DENIED", "it is their own call"
    assert carol.called(*call) == "PERMISSION_DENIED", "who approves does not call"
    assert carol.decided(confirmation, "debug_confirm").confirmation.decided_by == "corp:carol"
    first, again = bob.called(*call), bob.called(*call)
    assert first.HasField("result") and first.result.data == again.result.data


def test_a_user_with_the_same_claims_of_another_issuer_is_another_user(start):
    corp, partner = start["provider"](), start["provider"]()
    other = f'name = "partner"\nissuer = "{partner.url}"\naudience = ["toolwire"]\ngroups = "groups"'
    more = f"\n[[auth.issuers]]\n{other}\n"
    server = start["server"](corp, more)
    of_corp, of_partner = (Person(server, it, "bob") for it in (corp, partner))
    assert "debug_confirm" in of_corp.listed() and of_partner.listed() == set()
    call = ("debug_confirm", {"value": "x"}, str(uuid.uuid4()))
    confirmation = of_corp.called(*call).confirmation_required.confirmation_id
    assert of_partner.pending() == [] and confirmation in of_corp.pending()
    assert of_partner.called(*call) == "PERMISSION_DENIED"
    for each in (of_corp, of_partner):
        each.channel.close()
