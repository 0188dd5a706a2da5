"""The revisions of MCP, and which method, capability and transport each of them has."""

LEGACY = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
MODERN = "2026-07-28"
ALL = LEGACY + [MODERN]

META = "io.modelcontextprotocol/"
TASKS = META + "tasks"

# requests of a client, by the revision they came with and the one that dropped them
REQUESTS = {
    "initialize": ("2024-11-05", MODERN),
    "ping": ("2024-11-05", MODERN),
    "logging/setLevel": ("2024-11-05", MODERN),
    "resources/subscribe": ("2024-11-05", MODERN),
    "resources/unsubscribe": ("2024-11-05", MODERN),
    "tools/list": ("2024-11-05", None),
    "tools/call": ("2024-11-05", None),
    "resources/list": ("2024-11-05", None),
    "resources/templates/list": ("2024-11-05", None),
    "resources/read": ("2024-11-05", None),
    "prompts/list": ("2024-11-05", None),
    "prompts/get": ("2024-11-05", None),
    "completion/complete": ("2024-11-05", None),
    "tasks/get": ("2025-11-25", None),
    "tasks/cancel": ("2025-11-25", None),
    "tasks/list": ("2025-11-25", MODERN),
    "tasks/result": ("2025-11-25", MODERN),
    "tasks/update": (MODERN, None),
    "server/discover": (MODERN, None),
    "subscriptions/listen": (MODERN, None),
}

NOTIFICATIONS = {
    "notifications/initialized": ("2024-11-05", MODERN),
    "notifications/roots/list_changed": ("2024-11-05", MODERN),
    "notifications/progress": ("2024-11-05", MODERN),
    "notifications/cancelled": ("2024-11-05", None),
    "notifications/tasks/status": ("2025-11-25", MODERN),
}

CACHEABLE = ("server/discover", "tools/list", "resources/list", "resources/templates/list",
             "resources/read", "prompts/list")
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
MAY_ASK = tuple(NAMED)


def has(table, method, era):
    since, until = table.get(method, (None, None))
    return since is not None and era >= since and (until is None or era < until)
