import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { linesOf } from '../support/captured-log';
import { readMetricsText } from '../support/metrics-text';
import type { App } from '../support/app';
import { useOwnRedis } from '../support/redis';
import { eventually } from '../support/eventually';

const redis = useOwnRedis();

/** Sends bytes to a receiver and returns its answer. */
async function answerTo(app: App, sent: string): Promise<string> {
  const { hostname, port } = new URL(app.receiverUrl);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(sent);
  return text(socket);
}

/** The counts of answers that are not 0, by kind, status and outcome. */
async function answersOf(app: App): Promise<Record<string, number>> {
  const series = readMetricsText((await app.foundation.metrics.text()).text);
  const samples = series.find(({ name }) => name === 'towhook_webhook_answers_total')?.samples ?? [];
  return Object.fromEntries(
    samples.map(({ labels, value }) => [`${labels['kind']} ${labels['status']} ${labels['outcome']}`, value]),
  );
}

const HEAD = 'POST /tow-request HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n';
const MANY_HEADERS = Array.from({ length: 100 }, (_, index) => `x-${index}: 1\r\n`).join('');

test.each([
  ['more than 100 headers', `${HEAD}${MANY_HEADERS}content-length: 2\r\n\r\n{}`, 431, 'tow_request'],
  ['headers of more than 16 kB', `${HEAD}x-large: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'other'],
  ['a header that breaks the protocol', `${HEAD}x large: 1\r\n\r\n`, 400, 'other'],
])('a receiver counts and logs a call with %s', async (_what, sent, status, kind) => {
  const lines = await linesOf({ redisUrl: redis.url, role: 'receiver' }, async (app) => {
    expect(await answerTo(app, sent)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    await eventually(async () => expect(await answersOf(app)).toEqual({ [`${kind} ${status} unreadable`]: 1 }));
  });

  expect(lines.filter((line) => line.includes(`"delivery.unread"`))).toHaveLength(1);
});

test('a receiver counts a call once that breaks the protocol in its body', async () => {
  await linesOf({ redisUrl: redis.url, role: 'receiver' }, async (app) => {
    await answerTo(app, `${HEAD}transfer-encoding: chunked\r\n\r\nno chunk\r\n`);
    await eventually(async () => expect(await answersOf(app)).toEqual({ 'tow_request 400 unreadable': 1 }));
  });
});
