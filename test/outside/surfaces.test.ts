import request from 'supertest';
import { z } from 'zod';
import { SERIES } from '../architecture/metrics-page';
import { DEAD_ADDRESS } from '../cli/fake-service';
import { formOf, REQUIRED } from '../operator/forms';
import { WHEREABOUTS } from '../operator/world';
import { towRequest } from '../receiver/calls';
import { eventually } from '../support/eventually';
import { readMetricsText } from '../support/metrics-text';
import { useRedis } from '../support/redis';
import { openOutside, refusal, VIOLATION, type Outside } from './outside';

/** Events, metrics, the command line and shadow mode, pinned in the files of `outside`. */

const redis = useRedis();
let outside: Outside;
afterEach(() => outside.stop());

const TOW = 'TW-20241120-9F4D1A';
const PATH = `/api/tows/${TOW}`;
const idOf = (body: unknown) => z.object({ id: z.string() }).parse(body).id;

async function newTow(): Promise<void> {
  await outside.webhook(
    'POST /tow-request',
    towRequest({ violation_reference_id: VIOLATION, towing_reference_id: TOW }),
  );
  await outside.untilApi(PATH, (body) => z.object({ state: z.literal('requested') }).parse(body));
}

test('the events of a tow and of a violation have the recorded types and fields, in the recorded order', async () => {
  outside = await openOutside(redis.url, 'events');
  const { app, api } = outside;
  const leaving = new AbortController();
  const headers = { authorization: `Bearer ${app.apiKey}` };
  const stream = await fetch(`${app.consoleUrl}/api/events`, { headers, signal: leaving.signal });
  let text = '';
  const reading = (async () => {
    for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) text += chunk;
  })().catch(() => {});
  // The process passes events on from some moment after the answer on.
  for (let tries = 0; !text.includes('BEFORE'); tries += 1) {
    const ref = `TW-20241120-BEFORE${tries}`;
    const body = towRequest({ violation_reference_id: VIOLATION, towing_reference_id: ref });
    await outside.webhook('POST /tow-request', body, { id: ref, isRecorded: false });
    await outside.untilApi(`/api/tows/${ref}`, (found) => z.object({ state: z.string() }).parse(found));
  }
  await newTow();
  outside.serviceAnswers(refusal(400, 'Missing required field'));
  await api(`POST ${PATH}/started`, { body: WHEREABOUTS });
  await outside.settled(PATH);
  await api(`POST ${PATH}/reports/started-1/waive`, { body: { reason: 'by phone' } });
  await api('POST /api/violations', { form: formOf(REQUIRED) });
  await eventually(() => expect(text).toMatch(/task\.closed[^]*violation\.recorded/));
  leaving.abort();
  await reading;
  // Each once, in the order of the first of its kind: how often a record changes depends on how work falls together.
  const blocks = text.split('\n\n').filter((block) => block.startsWith('id: ') && !/BEFORE|events\.missed/.test(block));
  const kinds = blocks.map((block) =>
    block.replaceAll(/[\da-f]{12}-\d+-\d+/g, '<cursor>').replaceAll(/"at":"[^"]*"|dlv_[\da-f]+/g, '<other>'),
  );
  outside.recording.add('GET /api/events', [...new Set(kinds)]);
  outside.recording.compare();
});

/** The names of the metrics of a role. */
async function namesAt(url: string, apiKey: string): Promise<string[]> {
  const { text } = await request(url).get('/metrics').set('authorization', `Bearer ${apiKey}`).expect(200);
  return readMetricsText(text)
    .map(({ name }) => name)
    .filter((name) => name.startsWith('towhook_'))
    .toSorted();
}

test('the metrics have the recorded names, types and labels, and each role has the recorded ones', async () => {
  outside = await openOutside(redis.url, 'metrics');
  const all = await namesAt(outside.app.opsUrl, outside.app.apiKey);
  // The page is that of a running process (test/main/metrics.test.ts), where each series has a sample with its labels.
  const series = SERIES.map(({ name, type, labels }) => `${name} (${type}) ${labels.toSorted().join(', ')}`.trimEnd());
  outside.recording.add('docs/operations/metrics.md', series.toSorted());
  outside.recording.add('GET /metrics of the role all', all);
  for (const role of ['receiver', 'worker', 'console'] as const) {
    const app = await outside.start({}, role);
    const own = await namesAt(role === 'console' ? app.consoleUrl : app.opsUrl, app.apiKey);
    await app.stop();
    const without = all.filter((name) => !own.includes(name));
    outside.recording.add(`GET /metrics of the role ${role}`, {
      without,
      more: own.filter((name) => !all.includes(name)),
    });
  }
  outside.recording.compare();
});

/** What is about to change is left out. */
const LEFT_OUT = ['help', 'alarm', 'notifications'];

test('the commands, their exit codes and what they print are the recorded ones', async () => {
  outside = await openOutside(redis.url, 'command-line');
  const { command } = outside;
  const commandsBelow = async (path: string): Promise<string[]> => {
    const help = await outside.help(path);
    const [, list = ''] = help.split(/^Commands:$/m);
    const [own = ''] = list.split('\n\n');
    const names = [...own.matchAll(/^ {2}([\w-]+)/gm)].map(([, name = '']) => name);
    const below = await Promise.all(
      names.filter((name) => !LEFT_OUT.includes(name)).map((name) => commandsBelow(`${path} ${name}`.trim())),
    );
    return [...(names.length === 0 ? [path] : []), ...below.flat()];
  };
  outside.recording.add('towhook --help, and that of each command', await commandsBelow(''));
  await newTow();
  for (const line of [
    'queue pause reports --reason deploying',
    `tow started ${TOW} --plate-number "ABJ 1234" --towed-location Olaya --latitude 24.7 --longitude 46.6`,
    `tow started ${TOW} --json`,
    `tow detained ${TOW} --occurred-at yesterday`,
    `tow started ${TOW} --latitude 99`,
    'tow show TW-none',
    'tow show TW-none --json',
    'tow list --state parked',
    'tow list --state started',
    'tow show',
    'tow fly',
    'fly',
    'task list',
    'report waive TW-none started-1 --reason "by phone"',
    'queue resume violations --reason deployed',
    'key create --name yard --role king',
    'audit list',
    '--version',
  ])
    await command(line);
  await command('queue stats', { url: DEAD_ADDRESS });
  await command('queue stats', { as: 'a caller without a key' });
  await command('queue stats', { as: 'a wrong key' });
  outside.recording.compare();
});

test('what shadow mode shows, what leaves after the switch and who may decide are the recorded ones', async () => {
  outside = await openOutside(redis.url, 'shadow', { SERVICE_MODE: 'shadow' });
  const { api } = outside;
  await newTow();
  await api(`POST ${PATH}/started`, { body: { ...WHEREABOUTS, occurred_at: '2024-11-20T08:00:00Z' } });
  const made = `/api/violations/${idOf(await api('POST /api/violations', { form: formOf(REQUIRED) }))}`;
  await api('GET /api/shadow');
  await api('GET /api/shadow.csv');
  await api(`GET /api/zones/${REQUIRED.zoneId}/capacity`);
  await api(`POST ${PATH}/shadow/send`, { body: {} });
  await outside.restart({ SERVICE_MODE: 'live' });
  await outside.untilApi('/api/shadow', (body) =>
    z.object({ mode: z.object({ state: z.literal('live') }) }).parse(body),
  );
  await outside.makeKeys();
  await api(`POST ${PATH}/detained`, { body: { occurred_at: '2024-11-20T09:00:00Z' } });
  await api('GET /api/shadow');
  outside.recording.add('calls of the service before a decision', outside.service.calls.length);
  await api(`POST ${PATH}/shadow/send`, { body: {}, as: 'dispatcher' });
  await api(`POST ${PATH}/shadow/send`, { body: {} });
  await outside.settled(PATH);
  await api(`POST ${PATH}/shadow/send`, { body: {} });
  await api(`POST ${made}/shadow/decline`, { body: { reason: 'sent by the other software' } });
  await api(`GET ${made}`);
  await api('GET /api/shadow');
  await api('POST /api/mode', { body: { mode: 'shadow', reason: 'the service moves' } });
  await api('GET /api/status');
  await api('POST /api/mode', { body: { mode: 'live', reason: 'the service has moved' } });
  await outside.callsOfService();
  outside.recording.compare();
});
