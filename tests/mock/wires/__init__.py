"""The protocols the mock speaks. To add one: a module here with a `WIRE` object, its name below."""

import importlib

MODULES = [
    "anthropic", "openai_chat", "openai_responses", "azure", "google", "vertex", "interactions",
    "bedrock"
]


def load_all():
    return [importlib.import_module("." + name, __name__).WIRE for name in MODULES]
