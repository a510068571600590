"""The recipe for Teams, between Toolwire and a stand-in of Teams: who decides, and what is refused."""

import time
import uuid

import pytest

from test_slack import HIDDEN, asked

PERSON = "U-ALEX"


def card(message):
    content = message["attachments"][0]["content"]
    assert {one["type"] for one in content["body"]} == {"RichTextBlock"}, "only runs are plain text"
    return "\n".join(run["text"] for one in content["body"] for run in one["inlines"]), content["actions"]


def test_an_answer_approves_under_the_own_token_of_a_person_and_the_caller_goes_on(teams):
    confirmation, again, (path, bearer, message) = teams.waiting(value="parcel 7")
    text, _ = card(message)
    assert (path, bearer) == ("/workflow", None), "no token of Toolwire leaves for the chat"
    assert '"value": "parcel 7"' in text and f"approve {confirmation}" in text
    status, answer = teams.say(PERSON, f"Approve {confirmation}")()
    assert (status, answer) == (200, {"type": "message", "text": "approved by alex"})
    assert again()[0] == 200


def test_an_answer_denies_with_its_reason_and_a_second_person_reads_who_decided(teams):
    confirmation, again, _ = teams.waiting()
    teams.say(PERSON, f"deny {confirmation} not today, &amp; ask first")()
    assert "not today, & ask first" in str(again()[1])
    assert "alex" in teams.say("U-SAM", f"approve {confirmation}")()[1]["text"]


def test_high_consequences_need_the_name_of_the_tool(teams):
    confirmation, again, _ = teams.waiting(tool="debug_confirm", value="x")
    teams.say(PERSON, f"approve {confirmation}")()
    assert teams.state(confirmation) == "PENDING"
    teams.say(PERSON, f"approve {confirmation} debug_confirm")()
    assert teams.state(confirmation) == "APPROVED"


@pytest.mark.parametrize("person, reason", [("U-NOBODY", "no token"), ("U-RILEY", "own call")])
def test_who_has_no_token_or_no_right_decides_nothing(teams, person, reason):
    confirmation, _, _ = teams.waiting()
    assert reason in teams.say(person, f"approve {confirmation}")()[1]["text"]
    assert teams.state(confirmation) == "PENDING"


def test_answers_that_are_forged_old_changed_or_replayed_are_refused_and_decide_nothing(teams):
    confirmation, _, _ = teams.waiting()
    text = f"approve {confirmation}"
    for forged in ({"key": b"another"}, {"at": -302}, {"at": 310}):
        assert teams.say(PERSON, text, **forged)()[0] == 401, forged
    send = teams.say("U-NOBODY", text)
    assert send(send.__defaults__[0].replace(b"U-NOBODY", b"U-ALEX"))[0] == 401
    send = teams.say("U-RILEY", text)
    assert [send()[0], send()[0]] == [200, 401]
    assert teams.state(confirmation) == "PENDING"


def test_webhooks_that_are_forged_or_old_are_refused_and_a_repeated_one_is_told_once(teams):
    assert teams.hook(asked(), key=b"another" * 4) == 401
    assert teams.hook(asked(), sent=time.time() - 301) == 401
    name = f"msg_{uuid.uuid4().hex}"
    assert [teams.hook(asked(arguments={"value": HIDDEN}), name) for _ in range(2)] == [200, 200]
    text, (action,) = card(teams.chat.next()[2])
    assert "\\u202e" in text and "\u202e" not in text
    assert action == {"type": "Action.OpenUrl", "title": "Look at it", "url": "https://t/#/approvals/1"}
    assert teams.hook(asked(arguments={"value": "x" * 20_000})) == 200
    assert "too long" in card(teams.chat.next()[2])[0]
    assert teams.chat.got.empty()


@pytest.mark.parametrize("text", ["", "approve", "hello you", "<b>approve</b>"])
def test_what_is_no_decision_is_answered_with_how_to_decide(teams, text):
    assert "approve ID" in teams.say(PERSON, text)()[1]["text"]
