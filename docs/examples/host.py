"""A host in Python, by the official MCP client: `python host.py http://127.0.0.1:9222` (with `pip install mcp`).

It evaluates a script that asks its user three questions. Each call that a dialog holds comes back at once, the host decides,
and the call's own result is fetched afterwards: `evaluate` below is what an agent runtime would have.
"""

import asyncio
import os
import sys

from mcp import Client, StdioServerParameters

COMMAND = os.environ.get("CDP_SUPERVISOR", "cdp-supervisor")

SCRIPT = """
  const answers = [confirm('Delete all 3 files?'), prompt('Name of the new folder?', 'Untitled')];
  alert('Your session is about to expire.');
  answers
"""


def decide(dialog):
    """What a model, a rule or a person would: here, nothing is deleted, and names are given. Texts are the page's: untrusted."""
    if dialog["type"] == "prompt":
        return {"action": "accept", "prompt_text": "Invoices"}
    return {"action": "dismiss" if "Delete" in dialog["message"] else "accept"}


async def tool(client, name, **arguments):
    return (await client.call_tool(name, arguments)).structured_content


async def evaluate(client, expression, **arguments):
    """As `browser_eval`, with every dialog on the way answered. Never hangs: each call of a tool ends by itself."""
    result = await tool(client, "browser_eval", expression=expression, **arguments)
    while not result["success"] and result["error"]["code"] in ("dialog_opened", "blocked_by_dialog"):
        error = result["error"]
        dialog, answer = error["dialog"], decide(error["dialog"])
        print(f"{error['code']}: {dialog['type']} {dialog['message']!r} -> {answer}")
        await tool(client, "browser_dialog", dialog_id=dialog["id"], **answer)
        if "call_id" in error:
            result = await tool(client, "browser_result", call_id=error["call_id"])
        else:
            result = await tool(client, "browser_eval", expression=expression, **arguments)
    return result


async def main(url):
    server = StdioServerParameters(command=COMMAND, args=["mcp", url])
    async with Client(server) as client:
        print("tools:", len((await client.list_tools()).tools))
        result = await evaluate(client, SCRIPT)
        print("the script returned", result["value"])
        snapshot = await tool(client, "browser_snapshot")
        print("closed by", [dialog["closed_by"] for dialog in snapshot["recent_dialogs"]])


asyncio.run(main(sys.argv[1]))
