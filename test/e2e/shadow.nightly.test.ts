import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { withheldView, type WithheldItem } from '../../src/contracts/outbox/withheld';
import { towView } from '../../src/contracts/operator';
import type { App } from '../support/app';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { buildTown, type Town, API_KEY } from '../support/town';
import { callsAt, requestTows } from './simulator-control';
import { createPatrol, FORM, picture } from './patrol';

jest.setTimeout(240_000);
/** For all reports of all tows; ends a wait that hangs. */
const SENT_WITHIN_MS = 120_000;
const redis = useRedis();
const TOWS = 100;

/** The whole life of a tow. */
const LIFE = [
  ['started', { plate_number: 'ABC 1234', towed_location: 'Olaya Street', latitude: 24.7136, longitude: 46.6753 }],
  ['detained', {}],
  ['invoice', { vehicle_type: 'HEAVY', delay_in_days: 2 }],
  ['payment', {}],
  ['released', {}],
] as const;

const anyAnswer = z.looseObject({});

function clientOf(app: App) {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' };
  const ask = async (path: string, { key, ...init }: RequestInit & { readonly key?: string } = {}) => {
    const keyed = key === undefined ? headers : { ...headers, 'idempotency-key': key };
    const response = await fetch(`${app.consoleUrl}${path}`, { ...init, headers: keyed });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  };
  return {
    text: async (path: string) => (await ask(path)).text(),
    json: async (path: string): Promise<unknown> => (await ask(path)).json(),
    /** Repeats a request that was answered 503, as the answer asks, so a busy machine makes it slower and nothing else. */
    async post(path: string, body: object = {}) {
      const init = { method: 'POST', body: JSON.stringify(body), key: randomUUID() };
      await eventually(() => ask(path, init));
    },
  };
}
type Client = ReturnType<typeof clientOf>;

/** Records the whole life of every tow; its times do not depend on the clock. */
async function live(client: Client, refs: readonly string[]) {
  for (const [at, [fact, entry]] of LIFE.entries()) {
    const times = fact === 'invoice' ? {} : { occurred_at: `2024-11-20T0${at}:00:00Z` };
    await Promise.all(refs.map((ref) => client.post(`/api/tows/${ref}/${fact}`, { ...entry, ...times })));
  }
}

async function untilKnown(client: Client, refs: readonly string[]) {
  await eventually(() => Promise.all(refs.map((ref) => client.json(`/api/tows/${ref}`))));
}

/** All pages of what would have been sent. */
async function withheldItems(client: Client): Promise<WithheldItem[]> {
  const items: WithheldItem[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const query = new URLSearchParams({ limit: '40', ...(cursor === '' ? {} : { cursor }) });
    const page = withheldView.parse(await client.json(`/api/shadow?${query.toString()}`));
    items.push(...page.items);
    cursor = page.next_cursor;
  }
  return items;
}

/** The calls that the service received, without those for a token. */
async function reportsAt(town: Town) {
  return (await callsAt(town)).filter(({ operation }) => operation !== 'token');
}

function refOf(body: unknown): unknown {
  return anyAnswer.parse(body)['towing_reference_id'];
}

test('shadow mode sends nothing for 100 tows but the token call, shows what live mode sends, and sends two chosen tows in order after the switch', async () => {
  const town = await buildTown(redis.url);
  const shadow = await town.startInProcess({ SERVICE_MODE: 'shadow' });
  const dark = clientOf(shadow);
  const refs = await requestTows(town, { count: TOWS });
  await untilKnown(dark, refs);
  await live(dark, refs);
  await createPatrol(shadow.consoleUrl).report(FORM, [picture(1000)]);

  const items = await withheldItems(dark);
  const tows = items.filter(({ kind }) => kind === 'tow');
  expect(tows.map(({ id }) => id).toSorted()).toEqual(refs.toSorted());
  expect(items.filter(({ kind }) => kind === 'violation').flatMap(({ calls }) => calls)).toMatchObject([
    { operation: 'violation', method: 'POST', body: FORM, images: [expect.any(String)] },
  ]);
  const csv = await dark.text('/api/shadow.csv');
  expect(csv.trimEnd().split('\r\n')).toHaveLength(1 + LIFE.length * TOWS + 1);
  await eventually(async () => expect(await callsAt(town)).not.toEqual([]));
  expect(await reportsAt(town)).toEqual([]);
  await shadow.stop();

  const first = await town.startInProcess();
  const bright = clientOf(first);
  await eventually(async () => expect(withheldView.parse(await bright.json('/api/shadow')).mode.state).toBe('live'));
  const chosen = [refs[7] ?? '', refs[3] ?? ''];
  expect(await reportsAt(town)).toEqual([]);
  for (const ref of chosen) await bright.post(`/api/tows/${ref}/shadow/send`);
  await eventually(async () => {
    for (const ref of chosen) {
      const { reports } = towView.parse(await bright.json(`/api/tows/${ref}`));
      expect(reports.map(({ state }) => state)).toEqual(LIFE.map(() => 'accepted'));
    }
  });
  const sent = await reportsAt(town);
  for (const ref of chosen) {
    const operations = sent.filter(({ body }) => refOf(body) === ref).map(({ operation }) => operation);
    expect(operations).toEqual(LIFE.map(([fact]) => fact));
  }
  expect(sent).toHaveLength(2 * LIFE.length);
  await first.stop();

  await redis.ask('FLUSHALL');
  await fetch(`${town.simulator.url}/simulator/calls`, { method: 'DELETE' });
  const second = await town.startInProcess();
  const open = clientOf(second);
  for (const ref of refs) {
    await fetch(`${town.simulator.url}/simulator/tow-requests/${ref}/send`, { method: 'POST' });
  }
  await untilKnown(open, refs);
  await live(open, refs);
  const received = await eventually(async () => {
    const calls = await reportsAt(town);
    expect(calls).toHaveLength(LIFE.length * TOWS);
    return calls;
  }, SENT_WITHIN_MS);
  for (const { id, calls } of tows) {
    const own = received.filter(({ body }) => refOf(body) === id);
    expect(calls.map(({ operation, method, body }) => ({ operation, method, body }))).toEqual(
      own.map(({ operation, method, body }) => ({ operation, method, body })),
    );
    expect(calls.map(({ address }) => new URL(address).pathname)).toEqual(own.map(({ path }) => path));
  }
});
