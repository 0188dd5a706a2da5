// aimock.mjs - whole conversations of phi with @copilotkit/aimock, a mock model server that is not ours, in each of
// its dialects that phi speaks, and with its faults: node aimock.mjs PROG_TALK, by scripts/interop.py npm. All traffic is
// on 127.0.0.1. One line a check; exit code 1 where one failed.
//
// Where aimock 1.43.0 is not as the real APIs are, and what is done about it:
// - Gemini, Vertex: an answer with calls ends with the finishReason FUNCTION_CALL, which the API does not have (it says
//   STOP). phi warns and runs the calls; that is checked, and all other answers are made to say STOP.
// - Bedrock: a cachePoint among the tools, which the API takes, is answered with 500. That is checked; conversations are
//   those of a model that has no marks.
// - Azure: OpenAI's Responses at another path, with OpenAI's errors.
// - Errors by chaos and of keys are OpenAI's JSON in every dialect; others of Bedrock are Anthropic's JSON, without the
//   header x-amzn-errortype. Their class is found by their status.
// - Anthropic: every message with calls has to begin with thinking when thinking is on, where the API wants that of the
//   last one only; signatures and roles are not looked at. tests/mock is the strict one.
// - Errors in mid-stream and keep-alives are not among its faults: tests/mock has them.
// - A stream that is cut may lose what was written before: it is slowed down where that shall arrive.
import { spawn } from 'node:child_process';
import { isDeepStrictEqual } from 'node:util';
import { LLMock } from '@copilotkit/aimock';

const [progTalk] = process.argv.slice(2);
let failed = 0;

function report(good, what, why = '') {
    if (!good) failed++;
    console.log(`${good ? 'ok    ' : 'FAILED'}  ${what}`);
    if (!good && why) console.log(String(why).trim().replace(/^/gm, '        '));
}

const dialects = [
    { name: 'anthropic', protocol: 'anthropic_messages', path: '', model: 'claude-sonnet-4-5' },
    { name: 'chat', protocol: 'openai_completions', path: '/v1', model: 'gpt-5-mini', errors: 'Error: ' },
    { name: 'responses', protocol: 'openai_responses', path: '/v1', model: 'gpt-5-mini', errors: 'Error: ' },
    { name: 'gemini', protocol: 'google_generative_ai', path: '/v1beta', model: 'gemini-3-pro-preview', google: true },
    { name: 'azure', protocol: 'azure_openai_responses', path: '/openai/v1', model: 'gpt-5-mini', errors: 'Error: ' },
    { name: 'vertex', protocol: 'google_vertex', path: '/v1/projects/p/locations/l', model: 'gemini-3-pro-preview',
        google: true },
    { name: 'bedrock', protocol: 'bedrock_converse_stream', path: '', model: 'mistral.mistral-large-2407-v1:0',
        marked: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0' },
];

// ---- a conversation ----

// The n-th request gets the n-th answer, all after the last the last: {response, chunkSize, chaos, ...} of aimock. What
// is returned counts requests.
function script(mock, answers) {
    const number = new WeakMap();
    const asked = { count: 0 };
    mock.reset();
    answers.forEach((answer, i) => mock.addFixture({ ...answer, match: { predicate: (request) => {
        if (!number.has(request)) number.set(request, asked.count++);
        return Math.min(number.get(request), answers.length - 1) === i;
    } } }));
    return asked;
}

// phi's runs, one a prompt. `code` 3: one has not ended.
function talk(mock, dialect, { prompts = ['Look.'], headers = [], key = 'test-key', model = dialect.model,
    silence = 20000 } = {}) {
    return new Promise((resolve) => {
        const child = spawn(progTalk, [dialect.protocol, mock.url + dialect.path, model, key, silence, ...headers, '--',
            ...prompts], { stdio: ['ignore', 'pipe', 'pipe'] });
        let out = '', words = '';
        child.stdout.on('data', (data) => { out += data; });
        child.stderr.on('data', (data) => { words += data; });
        child.on('close', (code, signal) => resolve({ code: code ?? signal, words,
            runs: out.split('\n').filter(Boolean).map((line) => JSON.parse(line)) }));
    });
}

const results = (request) => request.messages.filter((m) => m.role === 'tool').map((m) => m.content);
const called = [{ name: 'double', arguments: { n: 21 } }, { name: 'open', arguments: {} }];

// What a dialect's answers are made of, and what they come to.
function partsOf(dialect) {
    const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
    const calls = called.map((c) => ({ name: c.name, arguments: JSON.stringify(c.arguments) }));
    return {
        calls: { chunkSize: 3, response: { content: 'I look.', reasoning: 'Both at once.', toolCalls: calls, usage,
            ...dialect.google ? { finishReason: 'stop' } : {} } },
        seen: { chunkSize: 5, response: (request) => ({ content: `Seen: ${results(request).slice(-2).join()}.`, usage }) },
        hello: { chunkSize: 4, response: { content: 'Hello, all of you out there.', usage } },
        look: 'I look.Seen: ' + (dialect.google ? '{"output":"42"},{"error":"it is locked"}'
            : `42,${dialect.errors ?? ''}it is locked`) + '.',
        greeting: 'Hello, all of you out there.',
    };
}

const refusal = (status, message = 'No.', type = undefined) =>
    ({ response: { error: { message, type }, status, retryAfter: 0 } });

// Plays a script, and holds what came of each run against what is wanted of it; `requests`: how many there were.
async function play(mock, dialect, what, answers, { requests, wanted, ...options }) {
    const asked = script(mock, answers);
    const { code, words, runs } = await talk(mock, dialect, options);
    const wrong = [];
    for (const [i, want] of wanted.entries()) {
        const run = { ...runs[i], calls: runs[i]?.calls.map((c) => ({ ...c, arguments: JSON.parse(c.arguments) })) };
        for (const [key, value] of Object.entries(want))
            if (!(typeof value === 'function' ? value(run[key]) : isDeepStrictEqual(run[key], value)))
                wrong.push(`run ${i}: ${key} is ${JSON.stringify(run[key])}, wanted: ${value}`);
    }
    if (code !== 0) wrong.push(`exit code ${code} ${code === 3 ? '(a run that does not end)' : ''}`);
    if (runs.length !== wanted.length) wrong.push(`${runs.length} runs, wanted: ${wanted.length}`);
    if (requests !== undefined && asked.count !== requests)
        wrong.push(`${asked.count} requests, wanted: ${requests}`);
    report(!wrong.length, `${dialect.name}: ${what}`, [...wrong, ...runs.map((r) => JSON.stringify(r)), words].join('\n'));
}

// ---- what is played ----

async function conversations(mock, dialect, parts) {
    const { calls, seen, hello, look, greeting } = parts;
    const good = { status: 'ok', kind: '', retries: 0 };
    await play(mock, dialect, 'two tools at once, one of them an error, and a greeting', [calls, seen, hello],
        { prompts: ['Look.', 'Hello?'], requests: 3, wanted: [
            { ...good, text: look, calls: called, input: 22, output: 14,
                thinking: 'Both at once.' },
            { ...good, text: greeting, calls: [], input: 11, output: 7 }] });
    const ten = Array.from({ length: 10 });
    await play(mock, dialect, 'ten prompts in one conversation, with tools', ten.flatMap(() => [calls, seen]),
        { prompts: ten.map((_, i) => `Look ${i}.`), requests: 20,
            wanted: ten.map(() => ({ ...good, text: look, calls: called })) });
    await play(mock, dialect, 'a character a chunk, at an uneven pace',
        [{ ...calls, chunkSize: 1, streamingProfile: { ttft: 100, tps: 500, jitter: 0.9 } }, { ...seen, latency: 5 }],
        { requests: 2, wanted: [{ ...good, text: look, calls: called }] });
    await play(mock, dialect, 'all in one chunk', [{ ...calls, chunkSize: 9999 }, { ...seen, chunkSize: 9999 }],
        { requests: 2, wanted: [{ ...good, text: look, calls: called }] });
    await play(mock, dialect, 'an answer that comes late', [{ ...hello, chaos: { latencyMs: 300 } }],
        { requests: 1, wanted: [{ ...good, text: greeting }] });
    if (dialect.google)
        await play(mock, dialect, 'FUNCTION_CALL is no finishReason, and the calls are run',
            [{ ...calls, response: { ...calls.response, finishReason: undefined } }, seen],
            { requests: 2, wanted: [{ ...good, text: look, calls: called }] });
    if (dialect.marked)
        await play(mock, dialect, 'a cachePoint among the tools, which aimock cannot read', [hello],
            { model: dialect.marked, wanted: [{ kind: 'server', http: 500, retries: 3 }] });
}

async function refusals(mock, dialect, { hello, greeting }) {
    const final = { 400: 'invalid_request', 401: 'auth', 403: 'auth', 404: 'invalid_request' };
    for (const [status, kind] of Object.entries(final))
        await play(mock, dialect, `${status} is final`, [refusal(Number(status)), hello],
            { requests: 1, wanted: [{ kind, http: Number(status), retries: 0, words: 'No.', text: '' }] });
    for (const [status, kind] of [[429, 'rate_limited'], [500, 'server'], [503, 'server'], [529, 'server']])
        await play(mock, dialect, `${status} is tried again`, [refusal(status), hello],
            { requests: 2, wanted: [{ status: 'ok', text: greeting, retries: 1, retried: kind }] });
    await play(mock, dialect, 'no money is final', [refusal(429, 'You exceeded your current quota, please check your ' +
        'plan and billing details.', 'insufficient_quota')],
    { requests: 1, wanted: [{ kind: 'quota', http: 429, retries: 0 }] });
    await play(mock, dialect, 'a conversation that is too long is final, since nothing can be dropped',
        [refusal(400, 'prompt is too long: 300000 tokens > 200000 maximum', 'invalid_request_error')],
        { requests: 1, wanted: [{ kind: 'overflow', http: 400, retries: 0 }] });
    await play(mock, dialect, 'four refusals are one too many', [refusal(503)],
        { requests: 4, wanted: [{ kind: 'server', http: 503, retries: 3 }] });
    mock.reset();
    const { runs: [nothing] } = await talk(mock, dialect);
    report(nothing?.kind === 'invalid_request' && nothing.http === 404,
        `${dialect.name}: a request that no answer is scripted for`, JSON.stringify(nothing));
}

async function faults(mock, dialect, { calls, seen, hello, look, greeting }) {
    const chaos = { dropRate: 'server', malformedRate: 'server', disconnectRate: 'network' };
    for (const [rate, kind] of Object.entries(chaos)) {
        const broken = { ...calls, chaos: { [rate]: 1 } };
        await play(mock, dialect, `${rate} once`, [broken, calls, seen],
            { wanted: [{ status: 'ok', text: look, calls: called, retries: 1, retried: kind }] });
        // A connection that was used before and dies without a word is libcurl's to try again: it tells nobody.
        await play(mock, dialect, `${rate} after the tools`, [calls, { ...hello, chaos: { [rate]: 1 } }, seen],
            { requests: 3, wanted: [{ status: 'ok', text: look, calls: called, retries: kind === 'network' ? 0 : 1 }] });
        await play(mock, dialect, `${rate} always`, [broken],
            { requests: 4, wanted: [{ kind, text: '', calls: [], retries: 3 }] });
    }
    await play(mock, dialect, 'rateLimitRate once, with Retry-After', [{ ...hello, chaos: { rateLimitRate: 1 } }, hello],
        { wanted: [{ status: 'ok', text: greeting, retries: 1, retried: 'rate_limited' }] });
    await play(mock, dialect, 'chaos asked for in a header of ours', [hello],
        { headers: ['x-aimock-chaos-drop=1'], requests: 4, wanted: [{ kind: 'server', http: 500, retries: 3 }] });
    await play(mock, dialect, 'silence before the answer', [{ ...hello, chaos: { latencyMs: 8000 } }, hello],
        { silence: 2000, wanted: [{ status: 'ok', text: greeting, retries: 1, retried: 'timeout' }] });
    await play(mock, dialect, 'silence in the answer', [{ ...hello, latency: 8000 }, hello],
        { silence: 2000, wanted: [{ status: 'ok', text: greeting, retries: 1, retried: 'timeout' }] });
    for (const chunks of [1, 2, 3, 5, 8])
        await play(mock, dialect, `cut after ${chunks} chunks`,
            [{ ...calls, latency: 10, truncateAfterChunks: chunks }, calls, seen],
            { requests: 3, wanted: [{ status: 'ok', text: look, calls: called, retries: 1, retried: 'network',
                retracts: (n) => n === 0 || n === 1 }] });
    await play(mock, dialect, 'cut in mid-sentence: what was shown is taken back',
        [{ ...hello, chunkSize: 2, latency: 20, disconnectAfterMs: 150 },
            { ...hello, chunkSize: 2, latency: 20, truncateAfterChunks: 9 }, hello],
        { requests: 3, wanted: [{ status: 'ok', text: greeting, retries: 2, retracts: (n) => n > 0 }] });
    await play(mock, dialect, 'cut always', [{ ...hello, latency: 10, truncateAfterChunks: 6 }],
        { requests: 4, wanted: [{ kind: 'network', calls: [], retries: 3 }] });
}

// Faults drawn by lot, the same ones each time; after four in a row a run is over. A connection that was used before
// and dies without a word is libcurl's to try again, so that this one does not count.
async function lots(mock, dialect, { calls, seen, look }) {
    let state = 12345;
    const lot = (n) => (state = (state * 1103515245 + 12345) % 2 ** 31) % 65536 % n;
    const kinds = [() => null, () => null, () => null, () => null, () => ({ chaos: { dropRate: 1 } }),
        () => ({ chaos: { malformedRate: 1 } }), () => ({ chaos: { disconnectRate: 1 } }),
        () => ({ latency: 20, truncateAfterChunks: 3 + lot(3) }), () => refusal(503), () => refusal(429)];
    for (let i = 0; i < 8; i++) {
        const answers = [];
        let retries = 0, ends = true, used = false;
        for (const answer of [calls, seen]) {
            let row = 0, fault;
            while (ends && (fault = kinds[lot(kinds.length)]())) {
                answers.push({ ...answer, ...fault });
                if (!(fault.chaos?.disconnectRate && used)) ends = ++row < 4;
                used = !fault.chaos?.disconnectRate && !fault.truncateAfterChunks;
            }
            retries += Math.min(row, 3);
            if (!ends) break;
            answers.push(answer);
            used = true;
        }
        await play(mock, dialect, `faults by lot ${i}: ${answers.length} requests`, answers, { requests: answers.length,
            wanted: [ends ? { status: 'ok', text: look, calls: called, retries } :
                { kind: (k) => ['server', 'network', 'rate_limited'].includes(k), retries }] });
    }
}

// A server that knows its keys: each dialect brings its own in its own header.
async function keys(dialect, { hello, greeting }) {
    const mock = new LLMock({ port: 0, host: '127.0.0.1', auth: { apiKeys: ['test-key'] } });
    await mock.start();
    await play(mock, dialect, 'a key that is known', [hello], { wanted: [{ status: 'ok', text: greeting }] });
    await play(mock, dialect, 'a key that is not', [hello],
        { key: 'another', requests: 0, wanted: [{ kind: 'auth', http: 401, retries: 0 }] });
    await mock.stop();
}

await Promise.all(dialects.map(async (dialect) => {
    const mock = new LLMock({ port: 0, host: '127.0.0.1' });
    const parts = partsOf(dialect);
    await mock.start();
    await conversations(mock, dialect, parts);
    await refusals(mock, dialect, parts);
    await faults(mock, dialect, parts);
    await lots(mock, dialect, parts);
    await mock.stop();
    await keys(dialect, parts);
}));
console.log(failed ? `interop: ${failed} failed` : 'interop: all is well');
process.exit(failed ? 1 : 0); // answers of aimock that nobody waits for any more go on for minutes
