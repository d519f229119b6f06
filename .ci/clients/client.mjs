// Lists and calls all tools of a server of the Model Context Protocol: client.mjs CALLS COMMAND [ARGUMENT]...
//
// CALLS is a JSON object of arguments by tool. Prints a JSON object of the results. The SDK checks them against the tools' schemas.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [calls, command, ...args] = process.argv.slice(2);
const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport({ command, args }));
const { tools } = await client.listTools();
const results = {};
for (const [name, given] of Object.entries(JSON.parse(calls))) {
  const result = await client.callTool({ name, arguments: given });
  results[name] = { failed: result.isError === true, structured: result.structuredContent };
}
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), results }));
await client.close();
