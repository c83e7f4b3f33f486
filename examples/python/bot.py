#!/usr/bin/env python3
"""A bot in Python: repeats what others write to it, each message exactly once. Needs Python 3.11 alone.

  DM_USER=echo python/bot.py       # run it again whenever it ends, for example with Restart=always in a systemd unit

The answer and the acknowledgement of an event are one line, and so one transaction; dm-tail(1) explains this. dm.py is
made by schema-types, and mypy --strict checks the fields. The first start answers nothing that was sent before.
"""
import asyncio
import json
import sys
from asyncio.subprocess import PIPE

from dm import DmTail, SendLine

LONGEST = 2**20  # bytes of a line of dm-tail; by default, asyncio fails at 64 KiB


def answer(event: DmTail) -> SendLine:
    if event["type"] != "message" or "text" not in event:
        return {}
    text, id = event["text"][:1000], event["id"]
    return {"conversation_id": event["conversation_id"], "reply_to": id, "text": f"echo: {text}", "nonce": f"echo:{id}"}


async def main() -> int:
    stream = ["dm-tail", "-f", "--json", "--others", "--consumer", "echo", "--cursor", "now"]
    tail = await asyncio.create_subprocess_exec(*stream, stdout=PIPE, limit=LONGEST)
    send = await asyncio.create_subprocess_exec("dm-send", "-q", "--consumer", "echo", stdin=PIPE)
    assert tail.stdout and send.stdin
    async for line in tail.stdout:
        event = json.loads(line)
        reply = answer(event)
        reply["ack"] = event["cursor"]
        send.stdin.write(json.dumps(reply).encode() + b"\n")
        await send.stdin.drain()  # Fails when dm-send has ended.
    send.stdin.close()
    return await send.wait() or await tail.wait()


sys.exit(asyncio.run(main()))
