"""An agent with Toolwire's tools: install the wheel (docs/OWN_TOOLS.md) and anthropic, then `python agent.py "Where is order A-1?"`."""
import sys

import anthropic

from toolwire import Toolwire

model, messages = anthropic.Anthropic(), [{"role": "user", "content": sys.argv[1]}]
with Toolwire.connect() as tools:
    while True:
        said = model.messages.create(
            model="claude-opus-4-5", max_tokens=2048, messages=messages, tools=tools.export("anthropic"))
        uses = [block for block in said.content if block.type == "tool_use"]
        if not uses:
            break
        results = [{"type": "tool_result", "tool_use_id": use.id, "content": tools.call_text(use.name, use.input)}
                   for use in uses]
        messages += [{"role": "assistant", "content": said.content}, {"role": "user", "content": results}]
print("".join(block.text for block in said.content if block.type == "text"))
