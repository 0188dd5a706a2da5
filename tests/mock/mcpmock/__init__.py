"""The parts of tests/mock/mcp_server.py."""
