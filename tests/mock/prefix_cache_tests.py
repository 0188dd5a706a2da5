"""Checks of the prompt cache; test_mock.py runs them."""

import json

from prefix_cache import PrefixCache

KEYS = {"content-type": "application/json", "x-api-key": "key", "anthropic-version": "2023-06-01"}
MARK = {"cache_control": {"type": "ephemeral"}}


def text(letter, tokens, **more):
    """A block; with what JSON puts around it, it is a little more than so many tokens."""
    return dict({"type": "text", "text": letter * 4 * tokens}, **more)


def claude(*messages, system=()):
    return {"system": list(system), "messages": [{"role": r, "content": list(c)} for r, c in messages]}


def asked(cache, wire, body):
    told = cache.ask(wire, "m", json.dumps(body).encode())
    return told["cache_read"], told["cache_write"], told["input"]


def marks(check):
    cache = PrefixCache()
    first = text("a", 2000, **MARK)
    read, written, rest = asked(cache, "anthropic", claude(("user", [text("b", 10)]), system=[first]))
    check(read == 0 and 2000 < written < 2030 and 10 < rest < 30, "a mark writes", (written, rest))
    check(asked(cache, "anthropic", claude(("user", [text("c", 10)]), system=[first]))[:2] ==
          (written, 0), "what was written is read, and not written again")
    bare = claude(("user", [text("b", 10)]), system=[text("a", 2000)])
    check(asked(cache, "anthropic", bare)[:2] == (0, 0), "nothing is read without a mark")
    later = claude(("user", [text("b", 10, **MARK)]), system=[text("a", 2000)])
    read, more, rest = asked(cache, "anthropic", later)
    check((read, rest) == (written, 0) and more > 0, "an entry before a mark is read", (read, more))
    far = claude(("user", [text("b", 10)] * 20 + [text("b", 10, **MARK)]), system=[text("a", 2000)])
    check(asked(cache, "anthropic", far)[0] > written, "the last 20 blocks are looked at")
    far = claude(("user", [text("c", 10)] * 20 + [text("b", 10, **MARK)]), system=[text("a", 2000)])
    check(asked(cache, "anthropic", far)[0] == 0, "no more than 20 blocks are looked at")
    small = claude(("user", [text("d", 900, **MARK)]))
    check(asked(cache, "anthropic", small)[:2] == (0, 0), "what is short is not kept")
    check(cache.ask("anthropic", "n", json.dumps(later).encode())["cache_read"] == 0,
          "each model has a cache of its own")


def points(check):
    cache, body = PrefixCache(), {"messages": [{"role": "user", "content": [{"text": "b" * 40}]}]}
    body["system"] = [{"text": "a" * 8000}, {"cachePoint": {"type": "default"}}]
    written = asked(cache, "bedrock", body)[1]
    check(2000 < written < 2030, "a point of Bedrock's writes", written)
    body["messages"][0]["content"].append({"cachePoint": {"type": "default"}})
    check(asked(cache, "bedrock", body)[0] == written, "points are no part of the prompt")


def beginnings(check):
    cache = PrefixCache()

    def chat(*contents, **more):
        return dict({"messages": [{"role": "user", "content": c} for c in contents]}, **more)

    long = "a" * 8000
    check(asked(cache, "openai-chat", chat(long))[:2] == (0, 0), "the first request reads nothing")
    check(asked(cache, "openai-chat", chat(long, "b"))[0] == 1920, "OpenAI reads steps of 128 tokens")
    check(asked(cache, "openai-chat", chat(long, prompt_cache_key="k"))[0] == 0,
          "another key is another machine")
    check(asked(cache, "openai-chat", chat("b" + long))[0] == 0, "a changed beginning reads nothing")
    check(asked(cache, "openai-chat", chat("a" * 4000))[0] == 0, "nor does a short one")

    def gemini(*texts):
        return {"contents": [{"role": "user", "parts": [{"text": t}]} for t in texts]}

    asked(cache, "gemini", gemini(long))
    check(2000 < asked(cache, "gemini", gemini(long, "b"))[0] < 2010, "Gemini reads what is the same")


def over_http(check, client):
    body = dict(claude(("user", [text("b", 10)]), system=[text("a", 2000, **MARK)]),
                model="claude-sonnet-4-5", max_tokens=100, stream=False)
    read = [json.loads(client.post(path + "/v1/messages", body, KEYS).body)["usage"][
        "cache_read_input_tokens"] for path in ("/m/cache/s/hello", "/m/cache/s/hello", "/s/hello")]
    check(read[0] == 0 and read[1] > 2000 and read[2] == 0, "usage has what was read", read)
    figures = client.get("/_cache")
    check([f["appended"] for f in figures] == [1, 1], "/_cache has each request", figures)
    check(figures[1]["shared"] == figures[1]["context"] and figures[0]["shared"] == 0,
          "and what it shares with the one before", figures)


def diagnoses(check):
    cache = PrefixCache()

    def told(name, previous, body, model="m"):
        cache.ask("anthropic", model, json.dumps(body).encode())
        said = cache.diagnose(name, {"previous_message_id": previous}, model)
        return said and said["cache_miss_reason"]["type"]

    body = claude(("user", [text("b", 10)]), system=[text("a", 10)])
    longer = claude(("user", [text("b", 10), text("c", 10)]), system=[text("a", 10)])
    other = claude(("user", [text("b", 10)]), system=[text("d", 10)])
    check(told("1", None, body) is None, "the first has nothing to compare")
    check(told("2", "1", longer) is None, "what is appended is no divergence")
    check(told("3", "2", body) == "messages_changed", "messages that are gone are")
    check(told("4", "3", other) == "system_changed", "so is another system prompt")
    check(told("5", "4", dict(other, tools=[{"name": "t"}])) == "tools_changed", "so are tools")
    check(told("6", "4", other, "n") == "model_changed", "and another model")
    check(told("7", "x", other) == "previous_message_not_found", "an id that nobody gave")


def all_of_it(check, client):
    marks(check)
    points(check)
    beginnings(check)
    diagnoses(check)
    over_http(check, client)
