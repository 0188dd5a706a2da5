// check.mjs - what phi sends and reads, held against the providers' own packages. Run by scripts/interop.py npm in
// the directory where they are installed: node check.mjs REQUESTS PROG_FRAMES. One line a check; exit code 1
// where one failed.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import Anthropic from '@anthropic-ai/sdk';
import { transformJSONSchema } from '@anthropic-ai/sdk/lib/transform-json-schema.mjs';
import { Sha256 } from '@aws-crypto/sha256-js';
import { BedrockRuntimeClient, ConverseStreamCommand } from '@aws-sdk/client-bedrock-runtime';
import { GoogleGenAI } from '@google/genai';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { HttpRequest } from '@smithy/protocol-http';
import { SignatureV4 } from '@smithy/signature-v4';
import { fromUtf8, toUtf8 } from '@smithy/util-utf8';
import OpenAI from 'openai';
import { toStrictJsonSchema } from 'openai/lib/transform.mjs';

const [directory, progFrames] = process.argv.slice(2);
const signedAt = new Date('2026-11-20T12:34:56Z'); // as prog_requests.c has it
let failed = 0;

function report(good, what, why = '') {
    if (!good) failed++;
    console.log(`${good ? 'ok    ' : 'FAILED'}  ${what}`);
    if (!good && why) console.log(String(why).trim().replace(/^/gm, '        '));
}

const requests = readdirSync(directory).filter((name) => name.endsWith('.json')).sort().map((name) => {
    const request = JSON.parse(readFileSync(`${directory}/${name}`, 'utf8'));
    return { name: name.slice(0, -5), json: JSON.parse(request.body), ...request };
});
const of = (...protocols) => requests.filter((r) => protocols.includes(r.protocol));

// ---- the first place where two values differ; '' where there is none ----

function difference(got, want, at = 'body') {
    if (isDeepStrictEqual(got, want)) return '';
    if (typeof got === 'object' && typeof want === 'object' && got && want &&
        Array.isArray(got) === Array.isArray(want))
        for (const key of new Set([...Object.keys(got), ...Object.keys(want)])) {
            const below = difference(got[key], want[key], `${at}.${key}`);
            if (below) return below;
        }
    return `${at}: phi ${JSON.stringify(got)}, the package ${JSON.stringify(want)}`;
}

// ---- types ----

// A value as TypeScript source; `special(path, value)` gives other source for it, or undefined.
function source(value, special, path = []) {
    const other = special(path, value);
    if (other !== undefined) return other;
    if (Array.isArray(value))
        return `[${value.map((v, i) => source(v, special, [...path, i])).join(',\n')}]`;
    if (value && typeof value === 'object')
        return `{${Object.entries(value).map(([k, v]) =>
            `${JSON.stringify(k)}: ${source(v, special, [...path, k])}`).join(',\n')}}`;
    return JSON.stringify(value);
}

const plain = () => undefined;
// String enums of TypeScript take no string, so the member of that name stands for it.
const geminiEnums = (path, value) =>
    path.at(-1) === 'mode' && path.at(-2) === 'functionCallingConfig'
        ? `g.FunctionCallingConfigMode[${JSON.stringify(value)}]`
    : path.at(-1) === 'thinkingLevel' ? `g.ThinkingLevel[${JSON.stringify(value)}]`
    : undefined;
const isBytes = (path) => path.at(-1) === 'redactedContent' ||
    (path.at(-1) === 'bytes' && path.at(-2) === 'source');
const bedrockBytes = (path, value) => isBytes(path)
    ? `new Uint8Array([${[...Buffer.from(value, 'base64')]}])` : undefined;

// The wire puts beside the contents what the SDK's caller puts into one config.
function geminiParams(request) {
    const { contents, generationConfig, ...rest } = request.json;
    return { model: request.model, contents, config: { ...generationConfig, ...rest } };
}

// The SDK from 1.0 on is of API version 2026-10-21, which knows no temperature. phi says 2023-06-01, whose own
// types are those of the last SDK before; held against both.
const anthropic = {
    head: "import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages';\n" +
        'type T = MessageCreateParamsStreaming & { temperature?: number };' };
const anthropicOfVersion = {
    head: "import type { MessageCreateParamsStreaming as T } from '@anthropic-ai/sdk-2023-06-01/resources/messages';" };
const chat = {
    head: "import type { ChatCompletionCreateParamsStreaming as T } from 'openai/resources/chat/completions';" };
const responses = {
    head: "import type { ResponseCreateParamsStreaming as T } from 'openai/resources/responses/responses';" };
const gemini = {
    head: "import * as g from '@google/genai';\n" +
        'type T = { model: string; contents: g.Content[]; config: g.GenerateContentConfig };',
    special: geminiEnums, params: geminiParams };
const interactions = {
    head: "import type { Interactions } from '@google/genai';\n" +
        'type T = Interactions.InteractionCreateParams.CreateModelInteractionParamsStreaming;' };
const bedrock = {
    head: "import type { ConverseStreamCommandInput as T } from '@aws-sdk/client-bedrock-runtime';",
    special: bedrockBytes, params: (r) => ({ modelId: r.model, ...r.json }) };
const types = {
    anthropic_messages: anthropic, openai_completions: chat, openai_responses: responses,
    azure_openai_responses: responses, google_generative_ai: gemini, google_vertex: gemini,
    google_interactions: interactions,
    bedrock_converse_stream: bedrock };

function typeFile(name, { head, special = plain }, value) {
    writeFileSync(`types/${name}.ts`,
        `${head}\nconst request: T = ${source(value, special)};\nexport default request;\n`);
}

function checkTypes() {
    rmSync('types', { recursive: true, force: true });
    mkdirSync('types');
    for (const r of requests) {
        const type = types[r.protocol];
        typeFile(r.name, type, type.params ? type.params(r) : r.json);
        if (r.headers['anthropic-version'] === '2023-06-01')
            typeFile(`${r.name}.2023-06-01`, anthropicOfVersion, r.json);
    }
    // The check must be able to fail: a field that is not known, deep in a message.
    typeFile('wrong-on-purpose', anthropic, { model: 'm', max_tokens: 1, stream: true,
        messages: [{ role: 'user', content: [{ type: 'text', text: 'a', texts: 'b' }] }] });
    writeFileSync('types/tsconfig.json', JSON.stringify({ compilerOptions: {
        strict: true, noEmit: true, skipLibCheck: true, target: 'es2022', module: 'nodenext',
        moduleResolution: 'nodenext', lib: ['es2023', 'dom', 'dom.iterable'] },
        include: ['*.ts'] }));
    const tsc = spawnSync(process.execPath,
        ['node_modules/typescript/bin/tsc', '--pretty', 'false', '-p', 'types'],
        { encoding: 'utf8', maxBuffer: 1 << 28 });
    const errors = {};
    let file = '';
    for (const line of (tsc.stdout + tsc.stderr).split('\n')) {
        const found = line.match(/^types\/([^(\s]+)\.ts\(/);
        if (found) file = found[1];
        else if (!line.startsWith(' ')) file = '';
        if (line.trim()) (errors[file] ??= []).push(line);
    }
    const wrong = errors['wrong-on-purpose'];
    delete errors['wrong-on-purpose'];
    for (const name of readdirSync('types').filter((n) => n.endsWith('.ts')).map((n) => n.slice(0, -3))) {
        if (name !== 'wrong-on-purpose')
            report(!errors[name], `types of ${name}`, errors[name]?.join('\n'));
        delete errors[name];
    }
    report(wrong?.length === 1 && wrong[0].includes('texts'), 'types refuse a field that is not known', wrong);
    for (const name of Object.keys(errors)) report(false, 'tsc', errors[name].join('\n'));
}

// ---- serializers: what the SDK sends for the same request ----

function bytesIn(value, path = []) {
    if (isBytes(path)) return new Uint8Array(Buffer.from(value, 'base64'));
    if (Array.isArray(value)) return value.map((v, i) => bytesIn(v, [...path, i]));
    if (value && typeof value === 'object')
        return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, bytesIn(v, [...path, k])]));
    return value;
}

async function bedrockSent(r) {
    let sent;
    const url = new URL(r.url);
    const client = new BedrockRuntimeClient({
        region: 'us-east-1', endpoint: url.origin, maxAttempts: 1,
        credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
        requestHandler: { handle: (request) => { sent = request; throw new Error('sent'); } } });
    await client.send(new ConverseStreamCommand(bytesIn({ modelId: r.model, ...r.json })))
        .catch((error) => { if (!sent) throw error; });
    return { path: sent.path, json: JSON.parse(new TextDecoder().decode(sent.body)) };
}

// What `call` fetches.
async function fetched(call) {
    let sent;
    const fetchWas = globalThis.fetch;
    globalThis.fetch = async (url, init) => {
        const asked = url instanceof Request ? url : { url, text: () => init.body };
        sent = { path: new URL(asked.url).pathname, json: JSON.parse(await asked.text()) };
        return new Response('', { headers: { 'content-type': 'text/event-stream' } });
    };
    try {
        for await (const chunk of await call()) void chunk;
    } catch (error) {
        if (!sent) throw error;
    } finally {
        globalThis.fetch = fetchWas;
    }
    return sent;
}

const geminiSent = (r) => fetched(() =>
    new GoogleGenAI({ apiKey: 'K', vertexai: r.protocol === 'google_vertex' })
        .models.generateContentStream(geminiParams(r)));
const interactionsSent = (r) => fetched(() => new GoogleGenAI({ apiKey: 'K' }).interactions.create(r.json));
const anthropicSent = (r) => fetched(() => new Anthropic({ apiKey: 'K', maxRetries: 0 })
    .messages.create(r.json));
const openai = (r) => new OpenAI({ apiKey: 'K', maxRetries: 0,
    baseURL: r.url.slice(0, r.url.indexOf('/v1') + 3) });
const chatSent = (r) => fetched(() => openai(r).chat.completions.create(r.json));
const responsesSent = (r) => fetched(() => openai(r).responses.create(r.json));

// From "/models/", "/model/" or "/interactions" on: what is before belongs to the base, not to the protocol.
const pathEnd = (path) => path.replace(/^.*?(\/(?:models?\/|interactions$))/, '$1');

async function checkSerializer(r, send, what) {
    try {
        const sent = await send(r);
        report(isDeepStrictEqual(sent.json, r.json), `${what} would send the body of ${r.name}`,
            difference(r.json, sent.json));
        const path = new URL(r.url).pathname;
        report(pathEnd(path) === pathEnd(sent.path), `${what} would send it there: ${r.name}`,
            `phi ${path}, the package ${sent.path}`);
    } catch (error) {
        report(false, `${what} would send ${r.name}`, error.stack);
    }
}

// ---- signatures ----

async function checkSignature(r) {
    const [accessKeyId, secretAccessKey, sessionToken] = r.key.split(':');
    const url = new URL(r.url);
    const region = url.hostname.split('.')[1] ?? r.model.split(':')[3];
    const signer = new SignatureV4({ credentials: { accessKeyId, secretAccessKey, sessionToken },
        region, service: 'bedrock', sha256: Sha256 });
    const headers = { host: url.host, accept: r.headers.accept,
        'content-type': r.headers['content-type'] };
    const request = new HttpRequest({ method: r.method, protocol: url.protocol,
        hostname: url.hostname, port: url.port ? Number(url.port) : undefined,
        path: url.pathname, headers, body: r.body });
    const signed = await signer.sign(request, { signingDate: signedAt,
        unsignableHeaders: new Set(['accept']) });
    const names = ['x-amz-date', 'x-amz-content-sha256', 'x-amz-security-token', 'authorization'];
    const pick = (all) => Object.fromEntries(names.map((n) => [n, all[n]]));
    report(isDeepStrictEqual(pick(r.headers), pick(signed.headers)), `signature of ${r.name}`,
        difference(pick(r.headers), pick(signed.headers), 'headers'));
}

// ---- frames ----

function checkFrames() {
    const codec = new EventStreamCodec(toUtf8, fromUtf8);
    const text = (value) => ({ type: 'string', value });
    const message = (headers, body) => codec.encode({ headers, body: fromUtf8(body) });
    const event = (name, body, more = {}) => [message({ ':event-type': text(name),
        ':content-type': text('application/json'), ':message-type': text('event'), ...more }, body),
        [name, body]];
    const every = {
        'a-true': { type: 'boolean', value: true }, 'a-false': { type: 'boolean', value: false },
        'a-byte': { type: 'byte', value: -7 }, 'a-short': { type: 'short', value: 300 },
        'an-int': { type: 'integer', value: -70000 },
        'a-long': { type: 'long', value: { bytes: new Uint8Array([0, 0, 0, 1, 2, 3, 4, 5]) } },
        'some-bytes': { type: 'binary', value: new Uint8Array([0, 255, 1]) },
        'no-text': text(''),
        'a-time': { type: 'timestamp', value: signedAt },
        'an-id': { type: 'uuid', value: '01234567-89ab-cdef-0123-456789abcdef' } };
    const frames = [
        event('messageStart', '{"role":"assistant"}'),
        event('contentBlockDelta', '{"delta":{"text":"é€😀 \\"q\\""},"contentBlockIndex":0}', every),
        event('contentBlockDelta', ''),
        event('contentBlockDelta', `{"delta":{"text":"${'long '.repeat(400)}"}}`),
        [message({ ':message-type': text('event'), ':event-type': text('a'.repeat(255)) }, '{}'),
            ['a'.repeat(255), '{}']],
        [message({ ':message-type': text('later-kind') }, 'not known: read over'), undefined],
        event('metadata', '{"usage":{"inputTokens":1}}'),
        [message({ ':message-type': text('exception'), ':exception-type': text('throttlingException'),
            ':content-type': text('application/json') }, '{"message":"slower"}'),
            ['!throttlingException', '{"message":"slower"}']],
        [message({ ':message-type': text('error'), ':error-code': text('InternalError'),
            ':error-message': text('inside') }, ''), ['!InternalError', 'inside']],
    ];
    const run = (bytes) => {
        writeFileSync('frames.bin', bytes);
        const ran = spawnSync(progFrames, ['frames.bin'], { encoding: 'utf8', maxBuffer: 1 << 28 });
        return { status: ran.status, words: ran.stderr,
            lines: ran.stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line)) };
    };
    const all = Buffer.concat(frames.map(([bytes]) => Buffer.from(bytes)));
    const want = frames.map(([, line]) => line).filter(Boolean);
    const got = run(all);
    report(got.status === 0, `frames at each of ${all.length - 1} splits, and byte by byte`, got.words);
    report(isDeepStrictEqual(got.lines, want), `frames: ${want.length} events read as encoded`,
        difference(got.lines, want, 'frames'));
    // A bit flipped anywhere in a frame is noticed by both readers.
    const one = Buffer.from(frames[0][0]);
    let good = true;
    for (let i = 0; i < one.length && good; i++) {
        const bad = Buffer.from(one);
        bad[i] ^= 1;
        let refused = false;
        try { codec.decode(bad); } catch { refused = true; }
        const lines = run(bad).lines;
        good = refused && lines.length === 1 && (lines[0] === 'broken' || lines[0] === 'cut');
        if (!good) report(false, `frames: a flipped bit in byte ${i}`, JSON.stringify(lines));
    }
    if (good) report(true, `frames: a flipped bit in each of ${one.length} bytes is refused`);
}

// ---- strict schemas: the packages' own adapters find nothing left to do ----

// Anthropic's adapter leaves the type out beside an enum; the API takes it.
function withoutTypeOfEnum(node) {
    if (Array.isArray(node)) return node.map(withoutTypeOfEnum);
    if (!node || typeof node !== 'object') return node;
    const { type, ...rest } = node;
    const kept = Array.isArray(node.enum) ? rest : node;
    return Object.fromEntries(Object.entries(kept).map(([k, v]) => [k, withoutTypeOfEnum(v)]));
}

function checkStrict(r) {
    const tools = (r.json.tools ?? r.json.toolConfig?.tools ?? [])
        .map((t) => t.function ?? t.toolSpec ?? t).filter((t) => t.strict);
    for (const tool of tools) {
        const open = tool.parameters !== undefined;
        const schema = open ? tool.parameters : withoutTypeOfEnum(tool.input_schema ?? tool.inputSchema.json);
        let why = '';
        try {
            const again = open ? toStrictJsonSchema(schema) : transformJSONSchema(schema);
            why = difference(schema, again, tool.name);
        } catch (error) { why = error.message; }
        report(!why, `${r.name}: ${tool.name} is strict`, why);
    }
    return tools.length;
}

// ---- all of it ----

if (requests.length === 0) report(false, 'there are requests');
checkTypes();
for (const r of of('bedrock_converse_stream')) {
    if (!r.url.includes('proxy')) await checkSerializer(r, bedrockSent, 'client-bedrock-runtime');
    if (r.key.includes(':')) await checkSignature(r);
}
for (const r of of('google_generative_ai', 'google_vertex'))
    await checkSerializer(r, geminiSent, '@google/genai');
for (const r of of('google_interactions'))
    await checkSerializer(r, interactionsSent, '@google/genai, Interactions,');
for (const r of of('anthropic_messages')) await checkSerializer(r, anthropicSent, '@anthropic-ai/sdk');
for (const r of of('openai_completions')) await checkSerializer(r, chatSent, 'openai');
for (const r of of('openai_responses', 'azure_openai_responses'))
    await checkSerializer(r, responsesSent, 'openai');
if (requests.map(checkStrict).reduce((a, b) => a + b, 0) === 0) report(false, 'there are strict tools');
if (progFrames) checkFrames();
console.log(failed ? `interop: ${failed} failed` : 'interop: all is well');
process.exitCode = failed ? 1 : 0;
