"""Asks in Slack about calls that wait for approval; a click decides under the token of the person who clicked."""

import hmac
import json
import os
from urllib import parse

from approvals import Refused, asked, check_signature, check_time, decide, is_first, post, serve, shown

CHANNEL, BOT = os.environ["SLACK_CHANNEL"], os.environ["SLACK_BOT_TOKEN"]
KEY, API = os.environ["SLACK_SIGNING_SECRET"].encode(), os.environ.get("SLACK_API", "https://slack.com/api")


def slack(method, **message):
    answer = post(f"{API}/{method}", message, BOT)[1]
    if not answer.get("ok"):
        raise OSError(f"Slack refused {method}: {answer.get('error')}")


def section(text):
    return {"type": "section", "text": {"type": "plain_text", "text": text[:2900], "emoji": False}}


def button(text, **more):
    return {"type": "button", "text": {"type": "plain_text", "text": text}, **more}


def tell(one):
    arguments = json.dumps(one.get("arguments", "not sent"), indent=1, ensure_ascii=False)
    text = shown(f"{one['user_id']} asks to call {one['tool']}, until {one['expires_at']}:\n{arguments}")
    # One click is too little for high consequences, and for arguments that are not shown whole.
    can_approve = "arguments" in one and len(text) <= 2900 and one["consequence_level"] != "CONSEQUENCE_LEVEL_HIGH"
    buttons = [button("Approve", action_id="approve", value=one["confirmation_id"])] if can_approve else []
    buttons += [button("Deny", action_id="deny", value=one["confirmation_id"])]
    buttons += [button("Look at it", action_id="open", url=one["url"])] if one.get("url") else []
    blocks = [section(text), {"type": "actions", "elements": buttons}]
    slack("chat.postMessage", channel=CHANNEL, text=f"{one['tool']} waits for approval", blocks=blocks)


def clicked(headers, body):
    sent = headers.get("x-slack-request-timestamp", "")
    mac = b"v0=" + hmac.digest(KEY, b"v0:%b:%b" % (sent.encode(), body), "sha256").hex().encode()
    check_signature(mac, headers.get("x-slack-signature", ""))
    check_time(sent)
    if not is_first(mac):
        raise Refused(401)
    click = json.loads(parse.parse_qs(body.decode())["payload"][0])
    person, channel, action = click["user"]["id"], click["channel"]["id"], click["actions"][0]
    if action["action_id"] not in ("approve", "deny"):
        return
    words, is_decided = decide(person, action["value"], {action["action_id"]: {"reason": "by a click in Slack"}})
    if is_decided:
        blocks = [click["message"]["blocks"][0], section(words)]
        slack("chat.update", channel=channel, ts=click["message"]["ts"], text=words, blocks=blocks)
    else:
        slack("chat.postEphemeral", channel=channel, user=person, text=words, blocks=[section(words)])


serve({"/toolwire": asked(tell), "/slack": clicked})
