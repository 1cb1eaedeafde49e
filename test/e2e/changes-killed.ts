import { once } from 'node:events';
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { createClient } from '../../src/client';
import { changesPage, type ChangeView } from '../../src/contracts/ops/changes';
import { ROUTES } from '../../src/contracts/operator-routes';
import { HOUR_MS } from '../../src/domain/timestamp';
import { systemClock } from '../../src/platform/clock';
import { pause } from '../../src/platform/timers';
import { eventually } from '../support/eventually';
import type { OwnRedis } from '../support/redis';
import type { RoleProcess } from '../support/role-process';
import { portOf } from '../support/server-port';
import { API_KEY, buildTown, type Town } from '../support/town';
import { requestTows } from './simulator-control';

export interface Kills {
  /** How long processes are killed, how long the first receiver fails, and how many tows are played meanwhile. */
  readonly killedForMs: number;
  readonly awayForMs: number;
  readonly tows: number;
  /** Longer than the first receiver fails and a killed worker keeps its lock, twice; else a receiver that works is given up. */
  readonly giveUpMs: number;
}

const FACTS = ['started', 'detained', 'released'] as const;
const WHEREABOUTS = { plate_number: 'ABC 1234', towed_location: 'Olaya Street', latitude: 24.7, longitude: 46.6 };
const BODIES = { started: WHEREABOUTS, detained: {}, released: {} } as const;
/** The service soon repeats a webhook that Redis could not store. */
const retryDelaysMs = Array.from({ length: 120 }, () => 1000);
const headers = { authorization: `Bearer ${API_KEY}` };

/** Reads all changes after a cursor from the consoles in turn, again where there is no answer. */
function readAll(urls: () => readonly string[], after: string) {
  const items: ChangeView[] = [];
  const ending = new AbortController();
  const read = async () => {
    let cursor = after;
    for (let turn = 0; !ending.signal.aborted; turn += 1) {
      const all = urls();
      const address = `${all[turn % all.length]}/api/changes?after=${cursor}&limit=1000&wait=2`;
      const answer = await fetch(address, { headers }).catch(() => null);
      if (answer?.status !== 200) {
        if (answer?.status === 410) throw new Error('the cursor has expired');
        await pause(100);
        continue;
      }
      const page = changesPage.safeParse(await answer.json().catch(() => null));
      if (!page.success) continue;
      items.push(...page.data.items);
      cursor = page.data.next_cursor;
    }
  };
  const reading = read();
  reading.catch(() => {});
  return {
    items,
    async end() {
      ending.abort();
      await reading;
      return items;
    },
  };
}

const message = z.object({
  data: z.looseObject({ subject: z.object({ kind: z.string(), id: z.string() }).nullable() }),
});

/** A receiver of a subscription, which checks the signatures. */
async function startReceiver(accepts: (subject: string) => boolean) {
  const accepted: { cursor: string; subject: string }[] = [];
  const secret = { text: '' };
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const given = z.record(z.string(), z.string()).parse(request.headers);
      new Webhook(secret.text).verify(text, given);
      const { subject } = message.parse(JSON.parse(text)).data;
      const name = subject === null ? '' : `${subject.kind}:${subject.id}`;
      const isAccepted = accepts(name);
      if (isAccepted) accepted.push({ cursor: given['webhook-id'] ?? '', subject: name });
      response.writeHead(isAccepted ? 204 : 500).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${portOf(server)}/`;
  return { url, secret, accepted, stop: () => (server.closeAllConnections(), server.close()) };
}

/** Kills workers, a console and Redis in turn, and starts each again. `end` leaves all running. */
function killInTurn(redis: OwnRedis, town: Town, roles: RoleProcess[], consoleAt: number) {
  const ending = new AbortController();
  let url = '';
  let killed = 0;
  const run = async () => {
    url = (await roles[consoleAt]?.url('console')) ?? '';
    for (let round = 0; !ending.signal.aborted; round += 1) {
      await pause(1500);
      const at = round % roles.length;
      const isConsole = at === consoleAt;
      roles[at]?.kill('SIGKILL');
      killed += 1;
      if (round % 4 === 3) await redis.kill();
      await roles[at]?.exited;
      if (round % 4 === 3) await redis.start();
      const started = await town.start(isConsole ? 'console' : 'worker');
      roles[at] = started;
      if (isConsole) url = await started.url('console');
    }
  };
  const running = run();
  running.catch(() => {});
  return {
    url: () => url,
    killed: () => killed,
    async end() {
      ending.abort();
      await running;
    },
  };
}

const firstOf = (cursors: readonly { cursor: string; subject: string }[]) => {
  const seen = new Set<string>();
  return cursors.filter(({ cursor }) => !seen.has(cursor) && seen.add(cursor));
};

/**
 * Three readers of two consoles and two subscriptions follow the changes of tows while workers, a console and Redis are
 * killed. None may miss a change, and all get them in order. The second receiver never accepts the first tow.
 */
export async function followUnderKills(redis: OwnRedis, kills: Kills): Promise<void> {
  const doneWithinMs = 2.5 * kills.giveUpMs;
  const town = await buildTown(redis.url, { retryDelaysMs });
  const overrides = {
    SUBSCRIPTION_PRIVATE_ADDRESSES: 'allow',
    SUBSCRIPTION_GIVE_UP_HOURS: String(kills.giveUpMs / HOUR_MS),
  };
  const start = (role: 'worker' | 'console') => town.start(role, overrides);
  const startAgain: Town = { ...town, start: (role) => town.start(role, overrides) };
  const [stable, other, ...workers] = await Promise.all([
    start('console'),
    start('console'),
    start('worker'),
    start('worker'),
  ]);
  await town.start('receiver');
  const consoleUrl = await stable.url('console');
  const client = createClient({ baseUrl: consoleUrl, apiKey: API_KEY });
  const { next_cursor: after } = await client.call(ROUTES.listChanges, {});

  let bad = '';
  const startedMs = systemClock.monotonicMs();
  const killedForMs = () => systemClock.monotonicMs() - startedMs;
  // Until the test knows which tow is the bad one, nothing is accepted, so that its changes cannot slip through.
  const receivers = [
    await startReceiver(() => killedForMs() > kills.awayForMs),
    await startReceiver((subject) => bad !== '' && subject !== `tow:${bad}`),
  ];
  for (const [at, receiver] of receivers.entries()) {
    const made = await client.call(ROUTES.createSubscription, {
      body: { name: `receiver ${at}`, url: receiver.url },
      key: systemClock.id(),
    });
    if ('secret' in made) receiver.secret.text = made.secret;
  }
  const [bait = ''] = await requestTows(town, { count: 1 });
  bad = bait;
  const killing = killInTurn(redis, startAgain, [other, ...workers], 0);
  await eventually(() => expect(killing.url()).not.toBe(''));
  const readers = [
    readAll(() => [consoleUrl], after),
    readAll(() => [killing.url()], after),
    readAll(() => [consoleUrl, killing.url()], after),
  ];

  const refs: string[] = [bad];
  const perRound = 5;
  // Redis is killed with every fourth process.
  while (refs.length < kills.tows || killedForMs() < kills.killedForMs || killing.killed() < 5) {
    const more = refs.length < kills.tows ? await requestTows(town, { count: perRound }) : [];
    refs.push(...more);
    for (const ref of more) {
      for (const fact of FACTS) {
        const key = systemClock.id();
        const call = { params: { towing_reference_id: ref }, body: BODIES[fact], key };
        await eventually(() => client.call(ROUTES[fact], call), 60_000);
      }
    }
    await pause(((kills.killedForMs / kills.tows) * perRound) / 2);
  }
  await killing.end();

  const behindOf = async () => (await client.call(ROUTES.listSubscriptions, {})).items;
  await eventually(async () => {
    const tows = await Promise.all(
      refs.slice(1).map((ref) => client.call(ROUTES.readTow, { params: { towing_reference_id: ref } })),
    );
    expect(
      tows.every(({ reports }) => reports.length === 3 && reports.every(({ state }) => state === 'accepted')),
    ).toBe(true);
    const left = (await behindOf()).map(({ behind, lag_seconds: lag, paused_by: paused }) => ({ behind, lag, paused }));
    expect(left).toEqual(left.map(() => ({ behind: [], lag: 0, paused: null })));
    const { items } = await client.call(ROUTES.listTasks, { query: { limit: 200 } });
    expect(JSON.stringify(items)).toContain(`changes of tow:${bad}`);
  }, doneWithinMs);
  await pause(3000);

  const [first = [], ...others] = await Promise.all(readers.map((reader) => reader.end()));
  receivers.forEach(({ stop }) => stop());
  const upTo = (items: readonly ChangeView[]) => items.map(({ cursor }) => cursor);
  for (const list of others) expect(upTo(list)).toEqual(upTo(first));
  expect(new Set(upTo(first)).size).toBe(first.length);
  const numbers = new Map<string, number[]>();
  for (const { subject, sequence } of first) {
    if (subject === null || sequence === null) continue;
    const name = `${subject.kind}:${subject.id}`;
    numbers.set(name, [...(numbers.get(name) ?? []), sequence]);
  }
  expect(numbers.size).toBeGreaterThan(kills.tows);
  for (const [name, list] of numbers) expect([name, list]).toEqual([name, list.map((_, at) => at + 1)]);

  for (const [at, { accepted }] of receivers.entries()) {
    const got = firstOf(accepted);
    const wanted = first.filter(({ subject }) => at === 0 || subject?.id !== bad);
    expect(new Set(got.map(({ cursor }) => cursor))).toEqual(new Set(upTo(wanted)));
    const bySubject = new Map<string, string[]>();
    for (const { subject, cursor } of got) bySubject.set(subject, [...(bySubject.get(subject) ?? []), cursor]);
    const place = new Map(first.map(({ cursor }, index) => [cursor, index]));
    for (const cursors of bySubject.values()) {
      const places = cursors.map((cursor) => place.get(cursor) ?? -1);
      expect(places).toEqual(places.toSorted((one, two) => one - two));
    }
  }
}
