import type { TowView } from '../../src/contracts/operator';
import { KEYS } from '../../src/store/keys';
import { useApp } from '../support/app';
import { errorOf, fieldsOf, get, post, refsFound, towIn, towOf, towPath, type Answer } from './client';
import { answerHead, claimHead, record, towAfter } from './world';

const app = useApp({ role: 'console' });

const BODIES = {
  retry: {},
  correct: { plate_number: 'KLM 77' },
  waive: { reason: 'told by phone' },
  accept: { reason: 'seen in their portal' },
} as const;
type Action = keyof typeof BODIES;

function decide(ref: string, reportId: string, action: Action, body: object = BODIES[action]): Promise<Answer> {
  return post(app, towPath(ref, `/reports/${reportId}/${action}`), body);
}

function reportOf(tow: TowView, id: string) {
  const report = tow.reports.find((one) => one.id === id);
  if (!report) throw new Error(`no report ${id}`);
  return report;
}

/** A tow whose head report ended like this; with the report's id. */
async function towWith(outcome: 'refused' | 'unknown' | 'retry', ...events: Parameters<typeof record>[2][]) {
  const ref = await towAfter(app, ...events);
  return { ref, id: await answerHead(app, ref, outcome) };
}

async function isDue(ref: string): Promise<boolean> {
  return (await app.redis.ask('ZSCORE', KEYS.dueTows, ref)) !== null;
}

describe('a refused report', () => {
  it('holds what comes after it and opens a task in the words of the service', async () => {
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
  ] as const)('after %s is %s, its task is closed, and the outbox moves on', async (action, state) => {
    const { ref, id } = await towWith('refused', 'started', 'detained');
    const tow = towIn(await decide(ref, id, action));
    expect(reportOf(tow, id)).toMatchObject({ state, hint: null });
    expect(tow.tasks).toEqual([]);
    expect(await isDue(ref)).toBe(true);
    expect((await claimHead(app, ref)).reportKind).toBe(state === 'pending' ? 'started' : 'detained');
  });

  it('that was given up or taken as accepted says why and by whom', async () => {
    for (const action of ['waive', 'accept'] as const) {
      const { ref, id } = await towWith('refused', 'started');
      const tow = towIn(await decide(ref, id, action));
      expect(reportOf(tow, id).reason).toBe(BODIES[action].reason);
      expect(tow.timeline.at(-1)).toMatchObject({ report_id: id, by: 'bootstrap', reason: BODIES[action].reason });
      expect(errorOf(await decide(ref, id, 'retry')).code).toBe('report_settled');
    }
  });

  it.each(['waive', 'accept'] as const)('is not settled by %s without a reason', async (action) => {
    const { ref, id } = await towWith('refused', 'started');
    for (const body of [{}, { reason: '  ' }]) {
      const answer = await decide(ref, id, action, body);
      expect([answer.status, fieldsOf(answer)]).toEqual([422, ['reason']]);
    }
    expect(reportOf(await towOf(app, ref), id).state).toBe('refused');
  });
});

describe('a report whose outcome is unknown', () => {
  const unknownInvoice = async () => {
    const ref = await towAfter(app, 'started', 'invoice', 'payment');
    await answerHead(app, ref, 'accepted');
    return { ref, id: await answerHead(app, ref, 'unknown') };
  };

  it('cannot be corrected', async () => {
    const { ref, id } = await unknownInvoice();
    const answer = await decide(ref, id, 'correct', { delay_in_days: 3 });
    expect([answer.status, errorOf(answer).code]).toEqual([409, 'correct_not_allowed']);
  });

  it('may be accepted, so that the next leaves', async () => {
    const { ref, id } = await unknownInvoice();
    expect(reportOf(towIn(await decide(ref, id, 'accept')), id).state).toBe('accepted');
    expect((await claimHead(app, ref)).reportKind).toBe('payment');
  });

  it('may be retried, and goes out once more', async () => {
    const { ref, id } = await unknownInvoice();
    towIn(await decide(ref, id, 'retry'));
    expect(await claimHead(app, ref)).toMatchObject({ reportId: id, attempt: 2 });
  });

  it('takes its pending payment along when it is waived, and the tow needs no payment any more', async () => {
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

describe('a report on its way', () => {
  it.each([
    ['an invoice', ['started', 'invoice']],
    ['a status', ['started']],
  ] as const)('cannot be decided on: %s', async (_what, events) => {
    const ref = await towAfter(app, ...events);
    if (events.length > 1) await answerHead(app, ref, 'accepted');
    const { reportId } = await claimHead(app, ref);
    const tow = await towOf(app, ref);
    for (const action of ['retry', 'correct', 'waive', 'accept'] as const) {
      const answer = await decide(ref, reportId, action);
      expect([answer.status, errorOf(answer).code]).toEqual([409, 'report_in_flight']);
    }
    expect(await towOf(app, ref)).toEqual(tow);
  });
});

describe('a report that waits', () => {
  it('goes out at once when it is retried', async () => {
    const { ref, id } = await towWith('retry', 'started');
    expect(Date.parse(reportOf(await towOf(app, ref), id).next_attempt_at ?? '')).toBeGreaterThan(Date.now() + 30_000);
    towIn(await decide(ref, id, 'retry'));
    expect(await claimHead(app, ref)).toMatchObject({ reportId: id, attempt: 2, failures: 0 });
  });

  it('may be waived before its turn', async () => {
    const ref = await towAfter(app, 'started', 'detained', 'released');
    const [started, detained] = (await towOf(app, ref)).reports;
    towIn(await decide(ref, detained?.id ?? '', 'waive'));
    await answerHead(app, ref, 'accepted');
    expect((await towOf(app, ref)).reports).toMatchObject([
      { id: started?.id, state: 'accepted' },
      { id: detained?.id, state: 'waived' },
      { kind: 'released', state: 'pending' },
    ]);
    expect((await claimHead(app, ref)).reportKind).toBe('released');
  });
});

it('the fields of all decisions are read strictly', async () => {
  const { ref, id } = await towWith('refused', 'started');
  for (const action of ['retry', 'waive', 'accept'] as const) {
    const answer = await decide(ref, id, action, { ...BODIES[action], plate_number: 'ABJ 1' });
    expect([answer.status, fieldsOf(answer)]).toEqual([422, ['plate_number']]);
  }
  expect((await get(app, towPath(ref))).status).toBe(200);
  expect(await refsFound(app, { attention: 'true' })).toEqual([ref]);
});
