"""Asks in Teams about calls that wait for approval; what people answer there is decided under their own tokens."""

import base64
import hmac
import html
import json
import os
import re
from datetime import datetime

from approvals import Refused, asked, check_signature, check_time, decide, is_first, post, serve, shown

# Where a workflow of the channel takes cards, and the token of the channel's outgoing webhook.
CARDS, KEY = os.environ["TEAMS_WORKFLOW_URL"], base64.b64decode(os.environ["TEAMS_WEBHOOK_TOKEN"])
BOT = os.environ.get("TEAMS_WEBHOOK_NAME", "Toolwire")
USAGE = f"Write `@{BOT} approve ID`, with the tool's name if its consequences are high, or `@{BOT} deny ID REASON`."


def tell(one):
    arguments = json.dumps(one.get("arguments", "not sent"), indent=1, ensure_ascii=False)
    if len(arguments) > 16_000:  # a card has at most 28 KB
        arguments = "too long to be shown here: look at it before you answer"
    runs = [f"{one['user_id']} asks to call {one['tool']}, until {one['expires_at']}:", arguments,
            f"@{BOT} approve {one['confirmation_id']}", f"@{BOT} deny {one['confirmation_id']} REASON"]
    # Runs are plain text; what stands in a TextBlock would be read as Markdown.
    body = [{"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": shown(run)}]} for run in runs]
    actions = [{"type": "Action.OpenUrl", "title": "Look at it", "url": one["url"]}] if one.get("url") else []
    card = {"type": "AdaptiveCard", "version": "1.4", "body": body, "actions": actions}
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
    status, _ = post(CARDS, {"type": "message", "attachments": [attachment]})
    if status >= 300:
        raise OSError(f"Teams refused the card: {status}")


def answered(headers, body):
    mac = base64.b64encode(hmac.digest(KEY, body, "sha256"))
    check_signature(mac, headers.get("authorization", "").removeprefix("HMAC "))
    message = json.loads(body)
    check_time(datetime.fromisoformat(message["timestamp"]).timestamp())
    if not is_first(message["id"]):
        raise Refused(401)
    words = html.unescape(re.sub(r"<at>.*?</at>|<[^>]*>", " ", message["text"])).split()
    rest = " ".join(words[2:])
    decisions = {"approve": {"approve": {"tool": rest}}, "deny": {"deny": {"reason": rest or "denied in Teams"}}}
    if len(words) < 2 or words[0].lower() not in decisions:
        return {"type": "message", "text": USAGE}
    told, _ = decide(message["from"]["aadObjectId"], words[1], decisions[words[0].lower()])
    return {"type": "message", "text": html.escape(told)}


serve({"/toolwire": asked(tell), "/teams": answered})
