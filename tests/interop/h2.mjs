// A model over HTTP/2: Node's own server, for curl_checks.py. `node h2.mjs KEY CERTIFICATE` prints its port, and ends
// with its input. The first word of a path says how the answer of the Anthropic protocol comes:
//   hello        at once                     slow         twenty pieces, 20 ms apart
//   large-N      N KB of text, as fast as the stream takes them
//   goaway       as slow; GOAWAY after the third piece, and the stream goes on to its end
//   refused      RST_STREAM refuses the first request; the next ones are answered
//   reset        RST_STREAM (INTERNAL_ERROR) after the third piece
//   gone         the connection is closed after the third piece
// GET /stats: sessions, the most streams of one at a time, and the milliseconds that streams waited for a window.
import {readFileSync} from 'node:fs';
import {constants, createSecureServer} from 'node:http2';
import {setTimeout as pause} from 'node:timers/promises';

const [keyPath, certPath] = process.argv.slice(2);
const server = createSecureServer({key: readFileSync(keyPath), cert: readFileSync(certPath)});
const stats = {sessions: 0, streams: 0, together: 0, waited: 0, goaways: 0, refused: 0};
const event = (type, rest) => `event: ${type}\ndata: ${JSON.stringify({type, ...rest})}\n\n`;

async function write(stream, text) {
  if (stream.destroyed || stream.write(text)) return;
  const began = Date.now();
  await new Promise(go => stream.once('drain', go).once('close', go));
  stats.waited += Date.now() - began;
}

async function answer(stream, word) {
  const session = stream.session, [name, size] = word.split('-');
  if (name === 'refused' && stats.refused++ === 0) return stream.close(constants.NGHTTP2_REFUSED_STREAM);
  const pieces = name === 'large' ? Number(size) : name === 'hello' ? 2 : 20;
  stream.respond({':status': 200, 'content-type': 'text/event-stream'});
  await write(stream, event('message_start', {message: {id: 'm', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5',
    content: [], stop_reason: null, usage: {input_tokens: 3, output_tokens: 1}}}) +
    event('content_block_start', {index: 0, content_block: {type: 'text', text: ''}}));
  for (let i = 0; i < pieces; i++) {
    const text = name === 'large' ? 'x'.repeat(1024) : name === 'hello' ? ['Hello', ' there.'][i] : `${i} `;
    await write(stream, event('content_block_delta', {index: 0, delta: {type: 'text_delta', text}}));
    if (name !== 'large' && name !== 'hello') await pause(20);
    if (i !== 2) continue;
    if (name === 'goaway') { stats.goaways++; session.goaway(constants.NGHTTP2_NO_ERROR); }
    if (name === 'reset') return stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    if (name === 'gone') return session.destroy();
  }
  if (stream.destroyed) return;
  stream.end(event('content_block_stop', {index: 0}) +
    event('message_delta', {delta: {stop_reason: 'end_turn', stop_sequence: null}, usage: {output_tokens: 9}}) +
    event('message_stop', {}));
}

server.on('session', session => { stats.sessions++; session.open = 0; session.on('error', () => {}); });
server.on('stream', (stream, headers) => {
  const session = stream.session, word = headers[':path'].split('/')[1];
  stream.on('error', () => {});
  if (word === 'stats') {
    stream.respond({':status': 200});
    return stream.end(JSON.stringify(stats));
  }
  stats.streams++;
  stats.together = Math.max(stats.together, ++session.open);
  stream.on('close', () => { session.open--; });
  stream.setMaxListeners(0).resume().on('end', () => answer(stream, word));
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit(0)).resume();
