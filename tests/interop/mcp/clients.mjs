// The official clients of npm with a server of ours: @modelcontextprotocol/sdk and
// @modelcontextprotocol/client. Usage: clients.mjs NODE_MODULES STEPS stdio PROGRAM ARG...
//                                      clients.mjs NODE_MODULES STEPS http URL
// STEPS is a JSON file (steps.json says what is in it). Prints "N passed, M failed".
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [, , modules, stepsFile, kind, ...target] = process.argv;
const steps = JSON.parse(readFileSync(stepsFile, "utf8"));
const require = createRequire(path.join(path.resolve(modules), "x.js"));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
let passed = 0, failed = 0;

function check(ok, what, seen) {
    if (ok) { passed++; return; }
    failed++;
    console.log(`FAILED ${what}: ${JSON.stringify(seen)?.slice(0, 400)}`);
}

const textOf = (result) => JSON.stringify(result);
const answers = {
    elicit: async () => ({ action: "accept", content: steps.elicit ?? { name: "Ada" } }),
    sample: async () => ({ role: "assistant", model: "m", content: { type: "text", text: "Paris" } }),
    roots: async () => ({ roots: [{ uri: "file:///w", name: "w" }] }),
};
const capabilities = { elicitation: {}, sampling: {}, roots: {} };

async function run(name, client) {
    const tools = await client.listTools();
    check(tools.tools.length > 0, `${name}: tools`, tools);
    for (const [tool, args, words, isError] of steps.tools) {
        let seen = 0;
        try {
            const result = await client.callTool({ name: tool, arguments: args }, ...progress(name, () => seen++));
            check(textOf(result).includes(words) && !!result.isError === !!isError, `${name}: ${tool}`, result);
            if (tool === steps.progress) check(seen > 0, `${name}: progress`, seen);
        } catch (e) {
            check(false, `${name}: ${tool}`, String(e));
        }
    }
    for (const [uri, words] of steps.resources ?? []) {
        try {
            const result = await client.readResource({ uri });
            check(textOf(result).includes(words), `${name}: ${uri}`, result);
        } catch (e) {
            check(false, `${name}: ${uri}`, String(e));
        }
    }
    for (const [prompt, args, words] of steps.prompts ?? []) {
        try {
            const result = await client.getPrompt({ name: prompt, arguments: args });
            check(textOf(result).includes(words), `${name}: ${prompt}`, result);
        } catch (e) {
            check(false, `${name}: ${prompt}`, String(e));
        }
    }
    if (steps.complete) {
        const result = await client.complete(steps.complete);
        check(Array.isArray(result.completion.values), `${name}: complete`, result);
    }
    await client.close();
}

const progress = (name, fn) => name.startsWith("sdk") ? [undefined, { onprogress: fn }] : [{ onprogress: fn }];

async function sdk() {
    const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
    const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const types = await load("@modelcontextprotocol/sdk/types.js");
    const client = new Client({ name: "sdk", version: "1" }, { capabilities });
    client.setRequestHandler(types.ElicitRequestSchema, answers.elicit);
    client.setRequestHandler(types.CreateMessageRequestSchema, answers.sample);
    client.setRequestHandler(types.ListRootsRequestSchema, answers.roots);
    await client.connect(kind === "stdio" ? new StdioClientTransport({ command: target[0], args: target.slice(1), stderr: "inherit" })
        : new StreamableHTTPClientTransport(new URL(target[0])));
    await run("sdk", client);
}

async function modern(mode) {
    const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
    const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");
    const client = new Client({ name: "client", version: "1" }, { capabilities, versionNegotiation: { mode } });
    client.setRequestHandler("elicitation/create", answers.elicit);
    client.setRequestHandler("sampling/createMessage", answers.sample);
    client.setRequestHandler("roots/list", answers.roots);
    await client.connect(kind === "stdio" ? new StdioClientTransport({ command: target[0], args: target.slice(1), stderr: "inherit" })
        : new StreamableHTTPClientTransport(new URL(target[0])));
    await run(`client ${typeof mode === "string" ? mode : mode.pin}`, client);
}

for (const one of [sdk, () => modern("legacy"), () => modern("auto"), () => modern({ pin: "2026-07-28" })]) {
    const watch = setTimeout(() => { console.log("FAILED: it hangs"); process.exit(1); }, 60000);
    try {
        await one();
    } catch (e) {
        check(false, String(one).slice(0, 60), e.stack);
    }
    clearTimeout(watch);
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
