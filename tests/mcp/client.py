"""What an agent does with the server, by the official Python client: `python client.py SERVER BROWSER_URL`.

The client holds each successful result against the tool's output schema by itself. It is run twice: with the handshake that
clients have had from the start, and without one, as the protocol of 2026-07-28 has it.
"""

import asyncio
import json
import sys
import time

from mcp import Client, StdioServerParameters

SERVER, BROWSER = sys.argv[1:3]
# Longer than any test runs: a call that ends in spite of it did not end by its deadline.
TEN_HOURS = 36_000
SLOW = "new Promise((done) => setTimeout(done, 2500, 'late'))"


async def call(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    content = result.structured_content
    assert json.loads(result.content[0].text) == content
    assert bool(result.is_error) != content["success"], content
    return content


async def done(client, name, **arguments):
    content = await call(client, name, **arguments)
    assert content["success"], content
    return content


async def fails(client, code, name, **arguments):
    content = await call(client, name, **arguments)
    assert content.get("error", {}).get("code") == code, content
    return content


async def tools(client):
    return len((await client.list_tools(cache_mode="bypass")).tools)


async def work(client):
    await fails(client, "not_connected", "browser_eval", expression="1")
    await done(client, "browser_connect", cdp_url=BROWSER)
    assert await tools(client) == 10

    began = time.monotonic()
    held = await fails(client, "dialog_opened", "browser_eval", expression="confirm('Sure?')", timeout_s=TEN_HOURS)
    told_after_ms = round(1000 * (time.monotonic() - began))
    snapshot = await done(client, "browser_snapshot", wait_s=30)
    dialog = snapshot["pending_dialogs"][0]
    assert dialog["message"] == "Sure?" and dialog["id"] == held["error"]["dialog"]["id"]
    await done(client, "browser_dialog", action="accept", dialog_id=dialog["id"])
    late = await done(client, "browser_result", call_id=held["error"]["call_id"])
    assert late["value"] is True

    await fails(client, "js_exception", "browser_eval", expression="null.x")
    await fails(client, "invalid_argument", "browser_dialog", action="maybe")
    answer = await done(client, "browser_cdp", method="Runtime.evaluate", params={"expression": "6 * 7"})
    assert answer["result"]["result"]["value"] == 42
    assert (await done(client, "browser_frames"))["frames"]
    assert (await done(client, "browser_console"))["warnings"] == []

    progress = []

    async def heard(passed, _total, _message):
        progress.append(passed)

    arguments = {"expression": SLOW, "await_promise": True}
    result = await client.call_tool("browser_eval", arguments, progress_callback=heard)
    assert result.structured_content["value"] == "late" and progress, progress

    await done(client, "browser_disconnect")
    assert await tools(client) == 3
    return told_after_ms


async def with_handshake(server):
    events = []

    async def log(params):
        events.append(params.data["event"])

    async with Client(server, mode="legacy", logging_callback=log) as client:
        told_after_ms = await work(client)
    assert "dialog_opened" in events and "dialog_closed" in events, events
    return told_after_ms


async def without_handshake(server):
    async with Client(server, mode="2026-07-28") as client, client.listen(tools_list_changed=True) as changes:
        told_after_ms = await work(client)
        # The tools came and went.
        await anext(aiter(changes))
    return told_after_ms


async def main():
    server = StdioServerParameters(command=SERVER, args=["mcp", "--no-journal"])
    for way in (with_handshake, without_handshake):
        told_after_ms = await asyncio.wait_for(way(server), 90)
        print(json.dumps({"client": f"python, {way.__name__}", "told_after_ms": told_after_ms}))


asyncio.run(main())
