import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReportKind } from '../../src/domain/vocabulary';
import { OPERATIONS } from '../../src/contracts/service/operations';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { buildTown, type Town } from '../support/town';
import { requestInvoice } from './invoice';
import { callsAt } from './simulator-control';

jest.setTimeout(240_000);
const redis = useRedis();

/** A lost claim expires after 20 s; then an invoice waits for its proof. */
const SENT_WITHIN_MS = 120_000;
const NO_PROOF = { UNKNOWN_GRACE_MS: '1000' };

/**
 * Loaded before the program of a worker. Puts its machine to sleep once, right before it opens the connection of a call: the
 * process stops, and when it continues no time has passed on its monotonic clock.
 */
const SLEEPS = `
  const { writeSync } = require('node:fs');
  const http = require('node:http');
  const { request } = http;
  const now = performance.now.bind(performance);
  let sleptMs = 0;
  let isDone = false;
  performance.now = () => now() - sleptMs;
  http.request = (options, ...others) => {
    if (!isDone && String(options.path).endsWith(process.env.SLEEPS_BEFORE)) {
      isDone = true;
      writeSync(1, '{"message":"asleep"}\\n');
      const beganMs = now();
      process.kill(process.pid, 'SIGSTOP');
      sleptMs = now() - beganMs;
    }
    return request(options, ...others);
  };
`;

/** Starts a worker whose machine falls asleep right before it sends a report of this kind. */
async function startSleepy(town: Town, kind: ReportKind) {
  const preloaded = join(town.environment['DATA_DIR'] ?? '', 'sleeps.cjs');
  await writeFile(preloaded, SLEEPS);
  const sleepy = { NODE_OPTIONS: `--require ${preloaded}`, SLEEPS_BEFORE: OPERATIONS[kind].path };
  return town.start('worker', { ...NO_PROOF, ...sleepy });
}

test.each<[ReportKind, ReportKind[]]>([
  ['detained', ['started', 'invoice', 'detained', 'payment', 'released']],
  ['invoice', ['started', 'invoice']],
])(
  'a worker whose machine sleeps between claim and call sends no report `%s` that another worker has sent meanwhile',
  async (kind, reports) => {
    const town = await buildTown(redis.url);
    const [sleepy, console] = await Promise.all([
      startSleepy(town, kind),
      town.start('console'),
      town.start('receiver'),
    ]);
    const { client, ref } = await requestInvoice(town, await console.url('console'));
    if (kind === 'detained') {
      await client.recordFact(ref, 'detained', {});
      await client.recordFact(ref, 'payment', { payment_status: 'PAID' });
      await client.recordFact(ref, 'released', {});
    }
    await sleepy.logged('asleep');
    await town.start('worker', NO_PROOF);
    await eventually(async () => {
      const states = (await client.tow(ref))?.reports.map(({ state }) => state);
      expect(states).toEqual(reports.map(() => 'accepted'));
    }, SENT_WITHIN_MS);

    sleepy.kill('SIGCONT');

    await eventually(() =>
      expect(
        sleepy.log.find(({ message, kind: sent }) => message === 'report.attempted' && sent === kind),
      ).toBeDefined(),
    );
    const sent = (await callsAt(town)).map(({ operation }) => operation).filter((operation) => operation !== 'token');
    expect(sent).toEqual(reports);
  },
);
