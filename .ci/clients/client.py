"""Lists and calls all tools of a server of the Model Context Protocol: client.py CALLS COMMAND [ARGUMENT]...

CALLS is a JSON object of arguments by tool. Prints a JSON object of the results. The SDK checks them against the tools' schemas.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main():
    calls, command, *arguments = sys.argv[1:]
    async with Client(StdioServerParameters(command=command, args=arguments)) as client:
        tools = (await client.list_tools()).tools
        results = {}
        for tool, given in json.loads(calls).items():
            result = await client.call_tool(tool, given)
            results[tool] = {"failed": bool(result.is_error), "structured": result.structured_content}
    print(json.dumps({"tools": [tool.name for tool in tools], "results": results}))


asyncio.run(main())
