// phi acp with the client of @agentclientprotocol/sdk, which checks each message by its schema.
// Usage, in a directory with node_modules: node editor.mjs PHI PYTHON MOCK_SERVER
// Prints "N passed, M failed".
import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync, existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const [, , phi, python, server] = process.argv;
const work = mkdtempSync(path.join(tmpdir(), "phi"));
const use = (name, input) => ({ blocks: [{ type: "tool_use", name, input }] });
const told = { blocks: [{ type: "text", text: "I was told: ${last_tool_result}" }] };
let passed = 0, failed = 0, child;

function check(what, seen, wanted) {
    if (JSON.stringify(seen) === JSON.stringify(wanted)) return passed++;
    failed++;
    console.log(`FAILED ${what}: ${JSON.stringify(seen)?.slice(0, 400)}, not ${JSON.stringify(wanted)}`);
}

writeFileSync(path.join(work, "scenarios.json"), JSON.stringify({
    touch: [use("bash", { command: "touch one.txt" }), told],
    write: [use("write_file", { path: "two.txt", content: "two\n" }), told],
    read: [use("read_file", { path: "notes.txt" }), told],
    thinks: [{ blocks: [{ type: "thinking", thinking: "Hm.", signature: "s" }, { type: "text", text: "So." }] }],
}));
writeFileSync(path.join(work, "notes.txt"), "the gate is shut\n");

const mock = spawn(python, [server, "--port", "0", "--scenario", path.join(work, "scenarios.json")],
    { stdio: ["pipe", "pipe", "inherit"] });
const port = await new Promise((resolve) =>
    createInterface({ input: mock.stdout }).once("line", (line) => resolve(line.split(" ")[2])));

// A phi of its own, an editor whose user always gives the same answer, and what the editor has seen.
async function edit(scenario, answer, steps) {
    const seen = { updates: [], asked: [] };
    child = spawn(phi, ["acp"], {
        cwd: work, stdio: ["pipe", "pipe", "inherit"],
        env: { ...process.env, PHI_BASE_URL: `http://127.0.0.1:${port}/s/${scenario}`, XDG_STATE_HOME: path.join(work, "state") },
    });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
    const client = acp.client({ name: "editor" })
        .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
            seen.asked.push(params);
            const option = params.options.find((o) => o.kind === answer);
            return { outcome: option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" } };
        })
        .onNotification(acp.methods.client.session.update, ({ params }) => { seen.updates.push(params.update); });
    seen.of = (kind) => seen.updates.filter((u) => u.sessionUpdate === kind);
    seen.text = (kind) => seen.of(kind ?? "agent_message_chunk").map((u) => u.content.text).join("");
    try {
        await client.connectWith(stream, async (agent) => {
            seen.first = await agent.request("initialize", { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} });
            await steps(agent, seen);
        });
    } catch (error) {
        check(scenario, String(error.stack), "no error");
    }
    child.stdin.end();
    check(`${scenario}: exit code`, await ended, 0);
    return seen;
}

const begin = async (agent) => (await agent.request("session/new", { cwd: work, mcpServers: [] })).sessionId;
const ask = async (agent, sessionId, text) =>
    (await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] })).stopReason;
const one = (scenario, answer) => edit(scenario, answer, async (agent, seen) => {
    seen.stop = await ask(agent, seen.session = await begin(agent), "go");
});

let seen = await one("hello");
check("version", seen.first.protocolVersion, 1);
check("loads", seen.first.agentCapabilities.loadSession, true);
check("an answer", [seen.text().length > 20, seen.stop], [true, "end_turn"]);
check("usage", seen.of("usage_update").length, 1);
check("commands", seen.of("available_commands_update")[0].availableCommands.some((c) => c.name === "compact"), true);
seen = await one("thinks");
check("thoughts", [seen.text("agent_thought_chunk"), seen.text()], ["Hm.", "So."]);
seen = await one("touch", "reject_once");
check("rejected", [seen.text(), existsSync(path.join(work, "one.txt"))], ["I was told: The user said no.", false]);
seen = await one("touch", "allow_once");
check("allowed", [seen.asked[0].toolCall.title, existsSync(path.join(work, "one.txt"))], ["touch one.txt", true]);
check("states", seen.of("tool_call_update").map((u) => u.status), ["in_progress", "completed"]);
seen = await one("write", "allow_always");
const change = seen.of("tool_call")[0].content[0];
check("a change", [change.type, change.path, change.oldText, change.newText], ["diff", path.join(work, "two.txt"), undefined, "two\n"]);
check("the file", readFileSync(path.join(work, "two.txt"), "utf8"), "two\n");
const kept = await one("read");
seen = await edit("echo", undefined, async (agent, now) => {
    await agent.request("session/load", { cwd: work, sessionId: kept.session, mcpServers: [] });
    now.before = [now.text("user_message_chunk"), now.text(), now.of("tool_call").length];
    now.stop = await ask(agent, kept.session, "And now?");
    await agent.request("session/close", { sessionId: kept.session });
    await agent.request("session/resume", { cwd: work, sessionId: kept.session, mcpServers: [] });
    now.again = await ask(agent, kept.session, "And then?");
});
check("loaded", seen.before, ["go", kept.text(), 1]);
check("continued", [seen.stop, seen.again, seen.text().endsWith("And now?And then?")], ["end_turn", "end_turn", true]);
seen = await edit("slow-300", undefined, async (agent, now) => {
    const [first, second] = [await begin(agent), await begin(agent)];
    const stops = [ask(agent, first, "go"), ask(agent, second, "go")];
    while (now.of("agent_message_chunk").length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    await agent.notify("session/cancel", { sessionId: first });
    now.stops = await Promise.all(stops);
    try { await agent.request("session/set_mode", { sessionId: first, modeId: "x" }); } catch (error) { now.code = error.code; }
});
check("two at once, one cancelled", seen.stops, ["cancelled", "end_turn"]);
check("an unknown method", seen.code, -32601);
seen = await edit("slow-1000", undefined, async (agent) => {
    const stop = ask(agent, await begin(agent), "go");
    stop.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 500));
    child.stdin.end();
    check("the end of stdin", await stop, "cancelled");
});

mock.stdin.end();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
