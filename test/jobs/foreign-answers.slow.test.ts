import type { Socket } from 'node:net';
import { CALLS, runOutbox } from '../../jobs/run-outbox';
import { KEYS } from '../../src/store/keys';
import { clientWithToken, closeClients } from '../service/client-under-test';
import { enveloped, startRawServer, type RawServer } from '../service/fake-service';
import { eventually } from '../support/eventually';
import { INVOICE, START, useStores, FAST_RETRIES } from '../support/stores';
import { changeEntry, letTry, readCircuits } from '../support/stored-records';
import { unstopped } from './run-steps';
import { reportProbe } from '../../src/workflow/outbox/prove-connection';
import { unobserved } from '../support/unobserved';

const stores = useStores();
let server: RawServer;
/** Answers each call on a new connection. */
let answer: (socket: Socket) => void;
let calls: number;

beforeEach(async () => {
  calls = 0;
  server = await startRawServer((socket, { chunk }) => {
    if (chunk > 1) return;
    calls += 1;
    answer(socket);
  });
  answer = (socket) => socket.end(http(enveloped({ towing_reference_id: 'T1' }).body ?? ''));
});
afterEach(async () => {
  closeClients();
  await server.stop();
});

function http(body: string, type = 'application/json', status = '200 OK'): string {
  const head = [`HTTP/1.1 ${status}`, `content-type: ${type}`, `content-length: ${Buffer.byteLength(body)}`];
  return `${[...head, 'connection: close'].join('\r\n')}\r\n\r\n${body}`;
}

const PAGE = '<!doctype html><title>Sign in</title>';
const FOREIGN: readonly (readonly [name: string, answer: (socket: Socket) => void])[] = [
  ['an HTML page', (socket) => socket.end(http(PAGE, 'text/html'))],
  ['plain text', (socket) => socket.end(http('OK', 'text/plain'))],
  ['an empty list', (socket) => socket.end(http('[]'))],
  ['a text in JSON', (socket) => socket.end(http('"done"'))],
  ['a number', (socket) => socket.end(http('1'))],
  ['5 MB of a page', (socket) => socket.end(http('<p>'.repeat(1_700_000), 'text/html'))],
  ['a body that is cut', (socket) => socket.end(http('{"code":200,"message":"Success"}').slice(0, -9))],
  ['a body without an end', drip],
];
const EMPTY: readonly (readonly [name: string, answer: (socket: Socket) => void])[] = [
  ['an empty body', (socket) => socket.end(http(''))],
  ['204', (socket) => socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n')],
];

const ZSTD = 'HTTP/1.1 200 OK\r\ncontent-encoding: zstd\r\ncontent-length: 4\r\nconnection: close\r\n\r\n(\xb5/\xfd';
const DRIFT: typeof EMPTY = [
  ['a body in an encoding that cannot be read', (socket) => socket.end(ZSTD, 'latin1')],
  ['an object without an envelope', (socket) => socket.end(http('{"ok":true}'))],
  ['such an object as a page', (socket) => socket.end(http('{"ok":true}', 'text/html'))],
];

function drip(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n');
  const more = setInterval(() => socket.write(`10000\r\n${'x'.repeat(65_536)}\r\n`), 1);
  socket.on('close', () => clearInterval(more));
}

async function run(ref = 'T1') {
  const service = await clientWithToken(server.url, { timeoutMs: 3000 });
  const { outbox, records } = stores;
  return runOutbox(
    CALLS.tow,
    ref,
    { outbox, records, service, settings: FAST_RETRIES, claimMaxAgeMs: 5000, ...unobserved() },
    unstopped,
  );
}

async function tow(ref = 'T1') {
  await stores.request(ref);
  await stores.say(ref, START);
}

const tasksOfAll = async () => (await stores.redis.hkeys(KEYS.tasks)).toSorted();

describe.each(FOREIGN)('%s with status 200', (_name, foreign) => {
  it('a report with an answer of another server opens the connection circuit and is resent later', async () => {
    await tow();
    const works = answer;
    answer = foreign;

    expect(await run()).toMatchObject({ what: 'hold' });
    expect((await stores.read('T1')).reports[0]).toMatchObject({ state: 'pending', rawBody: null });
    expect(await tasksOfAll()).toEqual(['connection']);

    answer = works;
    await eventually(async () => {
      await run();
      expect(await stores.states('T1')).toEqual(['started accepted']);
    });
    expect(calls).toBe(2);
    expect(await tasksOfAll()).toEqual([]);
  });

  it('an invoice request with an answer of another server is unknown, repeated once and then escalated', async () => {
    await tow();
    await run();
    await stores.say('T1', INVOICE);
    answer = foreign;

    expect(await run()).toMatchObject({ what: 'unknown' });
    expect(await tasksOfAll()).toEqual(['connection']);
    await eventually(async () => {
      await letTry(stores.redis, 'connection');
      await reportProbe(stores.records, { service: 'alive', delayMs: 0 });
      await run();
      expect((await stores.read('T1')).tasks).toMatchObject([{ type: 'report_unknown', report_id: 'invoice-2' }]);
    });
    expect(await stores.states('T1')).toEqual(['started accepted', 'invoice unknown']);
    expect(calls).toBe(3);
  });
});

it.each(EMPTY)('a status update with the answer "%s" is accepted without a task', async (_name, empty) => {
  await tow();
  answer = empty;

  expect(await run()).toMatchObject({ what: 'accepted' });
  expect(await stores.states('T1')).toEqual(['started accepted']);
  expect(await tasksOfAll()).toEqual([]);
  expect(calls).toBe(1);
});

describe.each(DRIFT)('%s', (_name, drift) => {
  it('a report with an answer of another shape is accepted, opens a task and keeps the raw body', async () => {
    await tow();
    answer = drift;

    expect(await run()).toMatchObject({ what: 'accepted' });
    const { reports } = await stores.read('T1');
    expect(reports).toMatchObject([{ state: 'accepted', rawBody: _name.includes('object') ? '{"ok":true}' : null }]);
    expect(await stores.generalTasks()).toMatchObject([{ type: 'answer_differs', operation: 'started' }]);
    expect(await readCircuits(stores.redis)).toMatchObject({ open: {}, failures: 0 });
    expect(await run()).toMatchObject({ what: 'idle' });
    expect(calls).toBe(1);
  });
});

it('names the encoding that cannot be read: once for all status updates, and when it breaks the connection', async () => {
  answer = (socket) => socket.end(ZSTD, 'latin1');
  await tow();
  await tow('T2');
  expect([await run(), await run('T2')]).toMatchObject([{ what: 'accepted' }, { what: 'accepted' }]);
  const [task, ...others] = await stores.generalTasks();
  expect([task?.type, others]).toEqual(['answer_differs', []]);
  expect(task?.message).toContain('encoding zstd');

  await stores.say('T1', INVOICE);
  expect(await run()).toMatchObject({ what: 'unknown' });
  expect((await readCircuits(stores.redis)).open).toMatchObject({ connection: { cause: 'encoding_zstd' } });
  expect((await stores.redis.hget(KEYS.tasks, 'connection')) ?? '').toContain('encoding zstd');
});

it('takes a call whose answer has a head that breaks HTTP as unanswered, and names why', async () => {
  const works = answer;
  const why = { http_status: null, message: 'unreadable_invalid_transfer_encoding' };
  const broken = (socket: Socket) =>
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n');
  await tow();
  answer = broken;
  expect(await run()).toMatchObject({ what: 'retry' });
  expect((await stores.read('T1')).reports[0]).toMatchObject({ unanswered: 1, error: why });

  answer = works;
  await eventually(async () => {
    await run();
    expect(await stores.states('T1')).toEqual(['started accepted']);
  });
  await stores.say('T1', INVOICE);
  answer = broken;
  calls = 0;
  expect(await run()).toMatchObject({ what: 'unknown' });
  await eventually(async () => {
    await run();
    expect((await stores.read('T1')).tasks).toMatchObject([{ type: 'report_unknown' }]);
  });
  expect((await stores.read('T1')).reports[1]).toMatchObject({ state: 'unknown', unanswered: 2, error: why });
  expect(calls).toBe(2);
  expect((await readCircuits(stores.redis)).open).toEqual({});
});

it('describes the foreign answer in the task of a report that alone keeps getting one', async () => {
  const works = answer;
  await tow();
  for (const other of ['T2', 'T3']) {
    answer = (socket) => socket.end(http(PAGE, 'text/html'));
    await eventually(async () => expect(await run()).toMatchObject({ what: 'hold' }));
    answer = works;
    await tow(other);
    await eventually(async () => {
      await run(other);
      expect(await stores.states(other)).toEqual(['started accepted']);
    });
  }
  answer = (socket) => socket.end(http(PAGE, 'text/html'));
  await eventually(async () => expect(await run()).toMatchObject({ what: 'refused' }));
  const [task] = (await stores.read('T1')).tasks;
  expect(task?.message).toContain('"the body is not JSON" (HTTP 200)');
});

it('a report that is refused for its third redirect leaves the connection circuit open that another one opened', async () => {
  const redirect = (socket: Socket) => socket.end(http('', 'text/html', '302 Found'));
  await tow();
  await tow('T2');
  await changeEntry(stores.redis, { ref: 'T1' }, 1, { connectionLosses: 2 });
  let underWay: Socket | null = null;
  answer = (socket) => (underWay = socket);
  const third = run();
  const held = await eventually(() => underWay ?? Promise.reject(new Error('not called yet')));
  answer = redirect;
  expect(await run('T2')).toMatchObject({ what: 'hold' });

  redirect(held);

  expect(await third).toMatchObject({ what: 'refused' });
  expect((await readCircuits(stores.redis)).open).toMatchObject({ connection: { failures: 1 } });
  expect(await tasksOfAll()).toContain('connection');
});
