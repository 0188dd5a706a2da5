"""A server of the Python SDK: FastMCP of mcp 1.x, MCPServer of mcp 2.x. Over stdio, or `http` (or `sse`) PORT."""
import sys

try:
    from mcp.server.mcpserver import Context, MCPServer as Server
    NAME = "MCPServer"
except ImportError:
    from mcp.server.fastmcp import Context, FastMCP as Server
    NAME = "FastMCP"

server = Server("python")


@server.tool()
def echo(text: str) -> str:
    """Says the text again."""
    return "%s says %s" % (NAME, text)


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
async def slow(steps: int, ctx: Context) -> str:
    """Shows its progress."""
    for i in range(steps):
        await ctx.report_progress(i + 1, steps)
    return "slow is done"


@server.resource("note://today")
def today() -> str:
    """A note."""
    return "a note of Python"


def main():
    if len(sys.argv) < 2:
        return server.run("stdio")
    kind = {"http": "streamable-http"}.get(sys.argv[1], sys.argv[1])
    if NAME == "MCPServer":
        return server.run(kind, host="127.0.0.1", port=int(sys.argv[2]))
    server.settings.host, server.settings.port = "127.0.0.1", int(sys.argv[2])
    return server.run(kind)


if __name__ == "__main__":
    main()
