import type { TowView } from '../../src/contracts/operator';
import { KEYS } from '../../src/store/keys';
import { useApp } from '../support/app';
import { api, errorOf, fieldsOf, refsFound, towIn, towOf, towPath } from './client';
import { answerHead, claimHead, record, towAfter } from './world';

const app = useApp({ role: 'console' });

const BODIES = {
  retry: {},
  correct: { plate_number: 'KLM 77' },
  waive: { reason: 'reported by phone' },
  accept: { reason: 'seen in their portal' },
} as const;
type Action = keyof typeof BODIES;

function decide(ref: string, reportId: string, action: Action, body: object = BODIES[action]) {
  return api(app)
    .post(towPath(ref, `/reports/${reportId}/${action}`))
    .send(body);
}

function reportOf(tow: TowView, id: string) {
  const report = tow.reports.find((one) => one.id === id);
  if (!report) throw new Error(`no report ${id}`);
  return report;
}

/** Creates a tow whose first unsent report has this outcome; returns the ids of both. */
async function towWith(outcome: 'refused' | 'unknown' | 'retry', ...events: Parameters<typeof record>[2][]) {
  const ref = await towAfter(app, ...events);
  return { ref, id: await answerHead(app, ref, outcome) };
}

async function isDue(ref: string): Promise<boolean> {
  return (await app.redis.ask('ZSCORE', KEYS.dueTows, ref)) !== null;
}

describe('operator API: refused reports', () => {
  it('a refused report stops the later reports of its tow and opens a task that quotes the service', async () => {
    const { ref, id } = await towWith('refused', 'started', 'detained');
    const tow = await towOf(app, ref);
    expect(reportOf(tow, id)).toMatchObject({ state: 'refused', attempts: 1, next_attempt_at: null });
    expect(tow.tasks).toMatchObject([{ report_id: id, actions: ['correct', 'retry', 'waive', 'accept'] }]);
    expect(tow.tasks[0]?.message).toContain('"Missing required field"');
    expect(await isDue(ref)).toBe(false);
  });

  it.each([
    ['retry', 'pending'],
    ['correct', 'pending'],
    ['waive', 'waived'],
    ['accept', 'accepted'],
  ] as const)(
    'after %s a refused report is %s, its task is closed and the outbox is due again',
    async (action, state) => {
      const { ref, id } = await towWith('refused', 'started', 'detained');
      const tow = towIn(await decide(ref, id, action));
      expect(reportOf(tow, id)).toMatchObject({ state, hint: null });
      expect(tow.tasks).toEqual([]);
      expect(await isDue(ref)).toBe(true);
      expect((await claimHead(app, ref)).entry.kind).toBe(state === 'pending' ? 'started' : 'detained');
    },
  );

  it('a waived or accepted report records the reason and the key that decided, and takes no further decision', async () => {
    for (const action of ['waive', 'accept'] as const) {
      const { ref, id } = await towWith('refused', 'started');
      const tow = towIn(await decide(ref, id, action));
      expect(reportOf(tow, id).reason).toBe(BODIES[action].reason);
      expect(tow.timeline.at(-1)).toMatchObject({ report_id: id, by: 'bootstrap', reason: BODIES[action].reason });
      expect(errorOf(await decide(ref, id, 'retry')).code).toBe('report_settled');
    }
  });

  it.each(['waive', 'accept'] as const)('refuses to %s a report without a reason with 422', async (action) => {
    const { ref, id } = await towWith('refused', 'started');
    for (const body of [{}, { reason: '  ' }]) {
      const response = await decide(ref, id, action, body).expect(422);
      expect(fieldsOf(response)).toEqual(['reason']);
    }
    expect(reportOf(await towOf(app, ref), id).state).toBe('refused');
  });
});

describe('operator API: reports whose outcome is unknown', () => {
  const unknownInvoice = async () => {
    const ref = await towAfter(app, 'started', 'invoice', 'payment');
    await answerHead(app, ref, 'accepted');
    return { ref, id: await answerHead(app, ref, 'unknown') };
  };

  it('refuses to correct a report whose outcome is unknown with 409', async () => {
    const { ref, id } = await unknownInvoice();
    const response = await decide(ref, id, 'correct', { delay_in_days: 3 }).expect(409);
    expect(errorOf(response).code).toBe('correct_not_allowed');
  });

  it('sends the next report after a report whose outcome is unknown is accepted by hand', async () => {
    const { ref, id } = await unknownInvoice();
    expect(reportOf(towIn(await decide(ref, id, 'accept')), id).state).toBe('accepted');
    expect((await claimHead(app, ref)).entry.kind).toBe('payment');
  });

  it('sends a report whose outcome is unknown again after a manual retry', async () => {
    const { ref, id } = await unknownInvoice();
    towIn(await decide(ref, id, 'retry'));
    expect(await claimHead(app, ref)).toMatchObject({ entry: { id: id, attempts: 2 } });
  });

  it('waives the pending payment together with an invoice whose outcome is unknown, and no longer requires payment', async () => {
    const { ref, id } = await unknownInvoice();
    const tow = towIn(await decide(ref, id, 'waive'));
    expect(tow.reports).toMatchObject([
      { kind: 'started', state: 'accepted' },
      { kind: 'invoice', state: 'waived', reason: BODIES.waive.reason },
      { kind: 'payment', state: 'waived', reason: BODIES.waive.reason },
    ]);
    await record(app, ref, 'released');
  });
});

describe('operator API: reports in flight', () => {
  it.each([
    ['an invoice', ['started', 'invoice']],
    ['a status report', ['started']],
  ] as const)('refuses every decision on %s in flight with 409 and changes nothing', async (_kind, events) => {
    const ref = await towAfter(app, ...events);
    if (events.length > 1) await answerHead(app, ref, 'accepted');
    const { id: reportId } = (await claimHead(app, ref)).entry;
    const tow = await towOf(app, ref);
    for (const action of ['retry', 'correct', 'waive', 'accept'] as const) {
      const response = await decide(ref, reportId, action).expect(409);
      expect(errorOf(response).code).toBe('report_in_flight');
    }
    expect(await towOf(app, ref)).toEqual(tow);
  });
});

describe('operator API: waiting reports', () => {
  it('sends a report that waits for its next attempt at once after a manual retry', async () => {
    const { ref, id } = await towWith('retry', 'started');
    expect(Date.parse(reportOf(await towOf(app, ref), id).next_attempt_at ?? '')).toBeGreaterThan(Date.now() + 30_000);
    towIn(await decide(ref, id, 'retry'));
    expect(await claimHead(app, ref)).toMatchObject({ entry: { id: id, attempts: 2, failures: 0 } });
  });

  it('skips a report that was waived before earlier reports were sent', async () => {
    const ref = await towAfter(app, 'started', 'detained', 'released');
    const [started, detained] = (await towOf(app, ref)).reports;
    towIn(await decide(ref, detained?.id ?? '', 'waive'));
    await answerHead(app, ref, 'accepted');
    expect((await towOf(app, ref)).reports).toMatchObject([
      { id: started?.id, state: 'accepted' },
      { id: detained?.id, state: 'waived' },
      { kind: 'released', state: 'pending' },
    ]);
    expect((await claimHead(app, ref)).entry.kind).toBe('released');
  });
});

it('refuses unknown fields in every decision on a report with 422', async () => {
  const { ref, id } = await towWith('refused', 'started');
  for (const action of ['retry', 'waive', 'accept'] as const) {
    const response = await decide(ref, id, action, { ...BODIES[action], plate_number: 'ABJ 1' }).expect(422);
    expect(fieldsOf(response)).toEqual(['plate_number']);
  }
  await api(app).get(towPath(ref)).expect(200);
  expect(await refsFound(app, { attention: 'true' })).toEqual([ref]);
});
