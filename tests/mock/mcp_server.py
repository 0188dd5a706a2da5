#!/usr/bin/python3
"""The mock MCP server: see README.md, "MCP"."""

import argparse
import sys
import threading

from mcpmock import eras, stdio
from mcpmock.options import Options


def main():
    sys.setrecursionlimit(20000)  # the schemas of `hostile` are deep
    threading.stack_size(16 << 20)
    parser = argparse.ArgumentParser()
    parser.add_argument("--eras", default=",".join(eras.ALL), help="revisions that it speaks")
    parser.add_argument("--m", default="", help="misbehaviours, joined by +")
    parser.add_argument("--port", type=int, help="over HTTP, on this port (0: any)")
    parser.add_argument("--ignore-stdin", action="store_true", help="HTTP: stay when stdin closes")
    parser.add_argument("--log", help="append all messages and refusals to this file")
    args = parser.parse_args()
    log = open(args.log, "a", encoding="utf-8") if args.log else None
    if args.port is not None:
        from mcpmock import web  # slow to import
        web.serve(args.port, args.eras.split(","), log, not args.ignore_stdin)
    try:
        options = Options(args.eras.split(","), args.m, log)
    except ValueError as e:
        sys.exit("mcp_server.py: %s" % e)
    stdio.serve(options)


if __name__ == "__main__":
    main()
