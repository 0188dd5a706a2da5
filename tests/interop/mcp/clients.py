"""The official clients of PyPI with a server of ours, as clients.mjs: mcp 1.x, and mcp 2.x in its modes.
Usage: clients.py STEPS stdio PROGRAM ARG... | clients.py STEPS http URL"""
import asyncio
import json
import sys

import mcp
from mcp import types

try:
    from mcp import Client
except ImportError:
    Client = None

STEPS = json.load(open(sys.argv[1], encoding="utf-8"))
KIND, TARGET = sys.argv[2], sys.argv[3:]
passed = failed = 0


def check(ok, what, seen=""):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print("FAILED %s: %s" % (what, repr(seen)[:400]))


async def elicit(context, params):
    return types.ElicitResult(action="accept", content=STEPS.get("elicit", {"name": "Ada"}))


async def sample(context, params):
    return types.CreateMessageResult(role="assistant", model="m",
                                     content=types.TextContent(type="text", text="Paris"))


async def roots(context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///w")])


def plain(result):
    return result.model_dump_json(by_alias=True)


async def steps(name, client):
    check((await client.list_tools()).tools, name + ": tools")
    for tool, arguments, words, *error in STEPS["tools"]:
        seen = []

        async def progress(done, total, text):
            seen.append(done)

        try:
            result = await client.call_tool(tool, arguments, progress_callback=progress)
            is_error = getattr(result, "is_error", getattr(result, "isError", False))
            check(words in plain(result) and bool(is_error) == bool(error), name + ": " + tool, result)
            if tool == STEPS.get("progress"):
                check(seen, name + ": progress")
        except Exception as e:
            check(False, name + ": " + tool, e)
    for uri, words in STEPS.get("resources", []):
        try:
            check(words in plain(await client.read_resource(uri)), name + ": " + uri)
        except Exception as e:
            check(False, name + ": " + uri, e)
    for prompt, arguments, words in STEPS.get("prompts", []):
        try:
            check(words in plain(await client.get_prompt(prompt, arguments)), name + ": " + prompt)
        except Exception as e:
            check(False, name + ": " + prompt, e)


def parameters():
    return mcp.StdioServerParameters(command=TARGET[0], args=TARGET[1:])


async def old():
    if KIND == "stdio":
        from mcp.client.stdio import stdio_client
        transport = stdio_client(parameters())
    else:
        from mcp.client.streamable_http import streamablehttp_client
        transport = streamablehttp_client(TARGET[0])
    async with transport as streams:
        async with mcp.ClientSession(streams[0], streams[1], elicitation_callback=elicit,
                                     sampling_callback=sample, list_roots_callback=roots) as session:
            await session.initialize()
            await steps("mcp 1", session)


async def new(mode):
    target = parameters() if KIND == "stdio" else TARGET[0]
    async with Client(target, mode=mode, elicitation_callback=elicit, sampling_callback=sample,
                      list_roots_callback=roots) as client:
        await steps("mcp 2, " + mode, client)


async def main():
    for run in ([old] if Client is None else [lambda m=m: new(m) for m in ("legacy", "auto", "2026-07-28")]):
        try:
            await asyncio.wait_for(run(), 60)
        except BaseException as e:
            check(False, "a whole client", e)
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed else 0)


asyncio.run(main())
