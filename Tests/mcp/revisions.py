"""One conversation of an agent with dm-mcp, by a client of one revision: revisions.py REVISION LIBRARY MODE.

LIBRARY is 'mcp', the official client, or 'fastmcp'. MODE is how it agrees on the revision, for clients that have modes; '-' is
the only way of the others. The users and the store are those of scenarios.py.
"""

import asyncio
import json
import os
import sys
import tempfile
from contextlib import asynccontextmanager

from common import ACTING, FRAME, READING, dm, equal

ERRORS = tempfile.mkstemp()[1]
# No client shows standard error to this script, so a shell keeps it.
SERVER = {"command": "sh", "args": ["-c", f"exec dm-mcp --as bot 2>{ERRORS}"], "env": dict(os.environ)}


@asynccontextmanager
async def first_client():
    """A session of mcp 1, which greets the server with the newest revision that it knows."""
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async with stdio_client(StdioServerParameters(**SERVER)) as streams, ClientSession(*streams) as session:
        session.protocol_version = (await session.initialize()).protocolVersion
        yield session


def second_client(mode):
    """A client of mcp 2."""
    from mcp import Client, StdioServerParameters

    return Client(StdioServerParameters(**SERVER), mode=mode)


@asynccontextmanager
async def fast_client(mode):
    """A client of fastmcp, whose raw results are those of mcp."""
    from fastmcp import Client

    async with Client({"mcpServers": {"dm": SERVER}}, mode=mode) as client:
        for name in ["list_tools", "call_tool", "list_resources", "read_resource"]:
            setattr(client, name, getattr(client, name + "_mcp"))
        yield client


def wire(result):
    """The result as it was in JSON: the libraries have different names for its members."""
    return result.model_dump(by_alias=True, mode="json")


def data(block):
    equal(block["text"][: len(FRAME)], FRAME)
    return json.loads(block["text"][len(FRAME) :])


async def called(client, tool, **arguments):
    """Whether a call failed, and the object that it returned."""
    result = wire(await client.call_tool(tool, arguments))
    equal(len(result["content"]), 1)
    return bool(result.get("isError")), data(result["content"][0])


async def talk(client, revision):
    equal(client.protocol_version, revision)
    equal(sorted(tool["name"] for tool in wire(await client.list_tools())["tools"]), sorted(READING + ACTING))
    failed, listed = await called(client, "list_conversations")
    equal((failed, sorted(c["conversation"] for c in listed["conversations"])), (False, ["+ops", "alice"]))
    failed, history = await called(client, "read_history", conversation="alice")
    equal((failed, [row[2] for row in history["messages"]]), (False, ["the first one", "the second one", "the third one"]))
    for _ in range(2):
        failed, sent = await called(client, "send", conversation="alice", text="an answer", nonce="n1")
        equal((failed, sent["message"]["ref"]), (False, "alice:4"))
    equal([m["text"] for m in dm("dm-tail", "bot", "4..")], ["an answer"])
    failed, waited = await called(client, "wait_for_message", cursor=history["cursor"], timeout_seconds=0)
    equal((failed, waited["messages"]), (False, []))
    resources = wire(await client.list_resources())["resources"]
    equal(sorted(r["name"] for r in resources), ["alice", "ops"])
    read = wire(await client.read_resource(next(r["uri"] for r in resources if r["name"] == "alice")))
    equal(data(read["contents"][0])["messages"][-1][3], "an answer")
    with open(ERRORS, encoding="utf-8") as errors:
        equal(errors.read(), "")  # What a client merely probes leaves no line.
    failed, refused = await called(client, "send", conversation="alicia", text="x", nonce="n2")
    equal((failed, refused["code"]), (True, "unknown_user"))


async def main(revision, library, mode):
    client = fast_client(mode) if library == "fastmcp" else first_client() if mode == "-" else second_client(mode)
    async with client as connected:
        await talk(connected, revision)


if __name__ == "__main__":
    asyncio.run(asyncio.wait_for(main(*sys.argv[1:]), 120))
