"""The recipe for Slack, between Toolwire and a stand-in of Slack: who decides, and what is refused."""

import time
import uuid

import pytest

PERSON = "U-ALEX"
HIDDEN = "safe \u202egnp.exe"


def asked(**more):
    data = {"confirmation_id": "conf_1", "user_id": "riley", "tool": "debug_write", "arguments": {"value": "x"},
            "expires_at": "2026-11-30T00:00:00Z", "consequence_level": "CONSEQUENCE_LEVEL_LOW",
            "url": "https://t/#/approvals/1"}
    return {"type": "confirmation.requested", "data": data | more}


def actions(message):
    return [one["action_id"] for one in message["blocks"][1]["elements"]]


def test_a_click_approves_under_the_own_token_of_a_person_and_the_caller_goes_on(slack):
    confirmation, again, (path, bearer, message) = slack.waiting(value="parcel 7")
    assert (path, bearer, message["channel"]) == ("/api/chat.postMessage", "Bearer xoxb-1", "C1")
    text = message["blocks"][0]["text"]
    assert text["type"] == "plain_text" and '"value": "parcel 7"' in text["text"] and "riley" in text["text"]
    assert actions(message)[:2] == ["approve", "deny"]
    assert slack.click(PERSON, "approve", confirmation, asked=message)() == 200
    path, _, update = slack.chat.next()
    assert (path, update["ts"], update["blocks"][0]) == ("/api/chat.update", "1.5", message["blocks"][0])
    assert update["text"] == "approved by alex" and len(update["blocks"]) == 2
    assert again()[0] == 200


def test_a_click_denies_and_a_second_person_reads_who_decided(slack):
    confirmation, again, _ = slack.waiting()
    assert slack.click(PERSON, "deny", confirmation)() == 200
    assert slack.chat.next()[2]["text"] == "denied by alex"
    assert slack.click("U-SAM", "approve", confirmation)() == 200
    path, _, update = slack.chat.next()
    assert path == "/api/chat.update" and "alex" in update["text"] and "denied" in update["text"]
    assert again()[1]["code"] == "CONFIRMATION_DENIED"


def test_high_consequences_and_what_is_not_shown_whole_have_no_button_that_approves(slack):
    _, _, (_, _, message) = slack.waiting(tool="debug_confirm", value="x")
    assert actions(message)[0] == "deny"
    for more in ({"arguments": {"value": "x" * 3000}}, {"arguments": None}):
        event = asked(**more)
        event["data"] = {name: it for name, it in event["data"].items() if it is not None}
        assert slack.hook(event) == 200
        message = slack.chat.next()[2]
        assert actions(message) == ["deny", "open"]
        assert len(message["blocks"][0]["text"]["text"]) <= 3000


def test_characters_that_reorder_others_are_shown_by_their_codes(slack):
    assert slack.hook(asked(arguments={"value": HIDDEN, "name": "Grüße"})) == 200
    text = slack.chat.next()[2]["blocks"][0]["text"]["text"]
    assert "\u202e" not in text and "\\u202e" in text and "Grüße" in text


@pytest.mark.parametrize("person, reason", [("U-NOBODY", "no token"), ("U-RILEY", "own call")])
def test_who_has_no_token_or_no_right_is_answered_alone_and_decides_nothing(slack, person, reason):
    confirmation, _, _ = slack.waiting()
    assert slack.click(person, "approve", confirmation)() == 200
    path, _, answer = slack.chat.next()
    assert (path, answer["user"]) == ("/api/chat.postEphemeral", person)
    assert reason in answer["text"]
    assert slack.state(confirmation) == "PENDING"


def test_clicks_that_are_forged_old_or_changed_are_refused_and_decide_nothing(slack):
    confirmation, _, _ = slack.waiting()
    forged = {
        "another key": slack.click(PERSON, "approve", confirmation, key=b"another"),
        "no signature": slack.click(PERSON, "approve", confirmation, signature=" "),
        "not one": slack.click(PERSON, "approve", confirmation, signature="v0=\u00e4"),
        "old": slack.click(PERSON, "approve", confirmation, at=-301),
        "of the future": slack.click(PERSON, "approve", confirmation, at=310),
    }
    assert {what: send() for what, send in forged.items()} == dict.fromkeys(forged, 401)
    send = slack.click("U-NOBODY", "approve", confirmation)
    changed = send.__defaults__[0].replace(b"U-NOBODY", b"U-ALEX")
    assert send(changed) == 401
    assert slack.state(confirmation) == "PENDING" and slack.chat.got.empty()


def test_a_click_that_is_replayed_is_refused(slack):
    confirmation, _, _ = slack.waiting()
    send = slack.click("U-RILEY", "approve", confirmation)
    assert send() == 200
    slack.chat.next()
    assert send() == 401 and slack.chat.got.empty()


def test_webhooks_that_are_forged_old_or_changed_are_refused_and_tell_nothing(slack):
    now = time.time()
    assert slack.hook(asked(), key=b"another" * 4) == 401
    assert slack.hook(asked(), signed=b"{}") == 401
    assert slack.hook(asked(), sent=now - 301) == 401
    assert slack.hook(asked(), sent=now + 310) == 401
    assert slack.chat.got.empty()


def test_a_webhook_is_told_once_and_again_only_if_slack_did_not_take_it(slack):
    name = f"msg_{uuid.uuid4().hex}"
    slack.chat.answers = [{"ok": False, "error": "ratelimited"}]
    assert slack.hook(asked(), name) == 502
    slack.chat.next()
    assert slack.hook(asked(), name) == 200
    slack.chat.next()
    assert slack.hook(asked(), name) == 200 and slack.chat.got.empty()


def test_what_was_decided_elsewhere_and_what_is_no_button_of_a_decision_asks_for_nothing(slack):
    assert slack.hook(asked() | {"type": "confirmation.decided"}) == 200
    assert slack.click(PERSON, "open", "")() == 200
    assert slack.chat.got.empty()
