// Walks through a server with the official TypeScript client and prints what it saw as JSON.
// Usage: client.mjs legacy|auto|<version> <url or command...>
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [era, target, ...args] = process.argv.slice(2);
const mode = era === "legacy" || era === "auto" ? era : { pin: era };
const client = new Client({ name: "judge", version: "1" }, { versionNegotiation: { mode } });
const transport = target.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args, env: process.env, stderr: "inherit" });

const code = (promise) => promise.then(() => null, (error) => error.code);

await client.connect(transport);
const seen = {
  version: client.getNegotiatedProtocolVersion(),
  server: client.getServerVersion(),
  instructions: client.getInstructions(),
  tools: (await client.listTools()).tools.map((tool) => tool.name),
  resources: (await client.listResources()).resources.map((resource) => resource.uri),
  templates: (await client.listResourceTemplates()).resourceTemplates.map((t) => t.uriTemplate),
  prompts: (await client.listPrompts()).prompts,
  echo: await client.callTool({ name: "echo", arguments: { text: "grüße" } }),
  failed: await client.callTool({ name: "test_error_handling", arguments: {} }),
  read: (await client.readResource({ uri: "test://static-text" })).contents,
  unknownTool: await code(client.callTool({ name: "nothing", arguments: {} })),
  unknownResource: await code(client.readResource({ uri: "test://nothing" })),
};
const abort = new AbortController();
const waiting = code(client.callTool({ name: "wait", arguments: {} }, { signal: abort.signal }));
await client.callTool({ name: "echo", arguments: { text: "meanwhile" } });
abort.abort("enough");
await waiting;
seen.afterCancel = await client.callTool({ name: "echo", arguments: { text: "still here" } });
await client.close();
console.log(JSON.stringify(seen));
