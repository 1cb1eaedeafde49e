import { z } from 'zod';
import { conservationView } from '../../src/contracts/ops/conservation';
import { recordsOf } from '../../src/store/outbox/records';
import { useApp } from '../support/app';
import { walk } from '../support/conservation';
import { reportViolations } from '../support/violations';
import { api, errorOf, newKey } from './client';
import { acceptOnly, answerHead, towAfter } from './world';
import { readMetricsText } from '../support/metrics-text';

const app = useApp({ role: 'console' });

const NOTHING = { acknowledged: 0, finished: 0, waiting: 0, parked: 0, with_a_person: 0, lost: 0, repaired: 0 };
const openTasks = z.object({ items: z.array(z.unknown()) });
const redisOf = () => app.foundation.redis;

async function conservation() {
  const response = await api(app, await newKey(app, 'viewer')).get('/api/conservation');
  expect(response.status).toBe(200);
  return conservationView.strict().parse(response.body);
}

/** The values of a metric of the console by their label text. */
async function metric(name: string): Promise<Record<string, number>> {
  const { text } = await api(app).get('/metrics');
  const samples = readMetricsText(text).flatMap((series) => series.samples);
  return Object.fromEntries(
    samples
      .filter((sample) => sample.name === name)
      .map(({ labels, value }) => [
        Object.entries(labels)
          .map(([label, text]) => `${label}="${text}"`)
          .join(','),
        value,
      ]),
  );
}

/**
 * Creates one waiting delivery, one tow with an accepted report, and one with a refused report and a report that waits
 * behind it. Returns the id of the waiting delivery.
 */
async function live(): Promise<string> {
  const waiting = await acceptOnly(app, 'tow_request', { towing_reference_id: 'TW-1', violation_reference_id: 'V-1' });
  await answerHead(app, await towAfter(app, 'started'), 'accepted');
  await answerHead(app, await towAfter(app, 'started', 'detained'), 'refused');
  return waiting;
}

it('returns zero counts and null times, and no conservation metrics, before the first complete scan', async () => {
  await live();

  expect(await conservation()).toEqual({
    ...NOTHING,
    lost_names: [],
    by_kind: { deliveries: NOTHING, reports: NOTHING, violations: NOTHING },
    started_at: null,
    ended_at: null,
    check_ms: null,
  });
  expect(await metric('towhook_conservation')).toEqual({});
  expect(await metric('towhook_conservation_check_age_seconds')).toEqual({});
});

it('returns the counts of the last complete conservation scan, in total and by kind, with its times', async () => {
  await live();
  await reportViolations({ records: recordsOf(redisOf()) }, 'U1', 'U2');
  const { startedAtMs, endedAtMs } = await walk(redisOf());

  const deliveries = { ...NOTHING, acknowledged: 3, finished: 2, waiting: 1 };
  const reports = { ...NOTHING, acknowledged: 3, finished: 1, with_a_person: 1, waiting: 1 };
  const violations = { ...NOTHING, acknowledged: 2, waiting: 2 };
  expect(await conservation()).toEqual({
    ...NOTHING,
    acknowledged: 8,
    finished: 3,
    waiting: 4,
    with_a_person: 1,
    lost_names: [],
    by_kind: { deliveries, reports, violations },
    started_at: new Date(startedAtMs).toISOString(),
    ended_at: new Date(endedAtMs).toISOString(),
    check_ms: endedAtMs - startedAtMs,
  });
});

it('exposes the counts and the age of the last conservation scan as metrics of the console', async () => {
  await live();
  const startedMs = Date.now();
  await walk(redisOf());

  expect(await metric('towhook_conservation')).toEqual({
    'state="acknowledged"': 6,
    'state="finished"': 3,
    'state="waiting"': 2,
    'state="parked"': 0,
    'state="with_a_person"': 1,
    'state="lost"': 0,
    'state="repaired"': 0,
  });
  const { '': ageSeconds = Infinity } = await metric('towhook_conservation_check_age_seconds');
  expect(ageSeconds).toBeLessThanOrEqual((Date.now() - startedMs) / 1000);
  await redisOf().hset('{towhook-main}:last-check', 'ended_at', 1_000);
  expect((await metric('towhook_conservation_check_age_seconds'))['']).toBeGreaterThan(1_000_000);
});

it('counts and names a lost record, and opens a task for it that cannot be resolved by hand', async () => {
  const id = await live();
  await redisOf().del(`{towhook-main}:delivery:${id}`);
  await walk(redisOf());

  expect(await conservation()).toMatchObject({ acknowledged: 6, lost: 1, lost_names: [`delivery ${id}`] });
  expect(await metric('towhook_conservation')).toMatchObject({ 'state="lost"': 1 });
  const response = await api(app).get('/api/tasks');
  const { items } = openTasks.parse(response.body);
  expect(items).toContainEqual(expect.objectContaining({ id: 'records_lost', type: 'records_lost', actions: [] }));
  const refused = await api(app).post('/api/tasks/records_lost/resolve').send({});
  expect([refused.status, errorOf(refused).code]).toEqual([409, 'decision_needed']);
});
