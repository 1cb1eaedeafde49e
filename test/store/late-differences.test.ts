import { releaseBlocked } from '../../src/store/release-blocked';
import { createDifferenceStore } from '../../src/store/differences';
import { KEYS, towKey, violationKey } from '../../src/store/keys';
import type { ViolationOutbox } from '../support/outboxes';
import { changeEntry, copyRecord, endLease, readEntry } from '../support/stored-records';
import { ACCEPTED, mustClaim, oddAnswer, result, START, useStores, type Stores } from '../support/stores';
import { mustClaimViolation, openOutbox, readViolation, reportViolations, takenAs } from '../support/violations';

/**
 * An accepting answer that differs from its document comes without its claim, and is kept while another attempt is in
 * flight. A person may decide on its kind of difference before that attempt ends.
 */

let stores: Stores;
let violations: ViolationOutbox;
useStores(
  (opened) => {
    stores = opened;
    violations = openOutbox(stores, { leaseMs: 40_000, graceMs: 0 });
  },
  { leaseMs: 40_000 },
);

const ODD = oddAnswer('started');
const RETRY = { next: 'retry', delayMs: 60_000, because: 'unanswered' } as const;

const questioned = async () => (await stores.read('T1')).reports[0]?.openDifferenceId ?? null;
const waiting = (id = ODD.id) => createDifferenceStore(stores.redis).waiting(id);

/** Keeps a late answer with this difference beside the attempt in flight. Returns both attempts. */
async function attemptsWithLateAnswer() {
  await stores.request('T1');
  await stores.say('T1', START);
  const loseClaim = await copyRecord(stores.redis, towKey('T1'));
  const lost = await mustClaim(stores.outbox, 'T1');
  await loseClaim();
  const attempt = await mustClaim(stores.outbox, 'T1');
  expect((await stores.outbox.settle(lost, result(ACCEPTED, { difference: ODD }))).kind).toBe('late');
  return { lost, attempt };
}

const attemptBesideLateAnswer = async () => (await attemptsWithLateAnswer()).attempt;
type Attempt = Awaited<ReturnType<typeof attemptBesideLateAnswer>>;

const DECISIONS = {
  'is closed by a person who looked at it': async () => {
    expect(await stores.resolve(`differs.${ODD.id}`)).toBe('done');
  },
  'is declared expected': () => stores.expect(ODD.id),
};
const ENDS = {
  'the attempt ends without an answer': async (attempt: Attempt) => {
    await stores.outbox.settle(attempt, result(RETRY));
  },
  'the attempt ends without an answer, in a commit that claims': async (attempt: Attempt) => {
    await stores.outbox.settle(attempt, result(RETRY), true);
  },
  'the worker of the attempt is lost': async () => {
    await endLease(stores.redis, towKey('T1'));
    await stores.outbox.claim('T1');
  },
};

/** Runs the tow as long as it is scheduled. */
async function runWhileDue(): Promise<void> {
  await releaseBlocked(stores.redis);
  while ((await stores.dueAt('T1')) !== null) await stores.outbox.claim('T1');
}

describe.each(Object.entries(DECISIONS))('a kind of difference that %s', (_decision, decide) => {
  test.each(Object.entries(ENDS))('questions no late answer of before, once %s', async (_end, end) => {
    const attempt = await attemptBesideLateAnswer();
    await decide();
    await releaseBlocked(stores.redis);

    await end(attempt);
    await runWhileDue();

    expect(await stores.states('T1')).toEqual(['started accepted']);
    expect([await questioned(), await waiting(), await stores.generalTasks()]).toEqual([null, 0, []]);
  });

  test.each(Object.entries(ENDS))(
    'is decided also for a late answer that settled its report: %s',
    async (_end, end) => {
      await end(await attemptBesideLateAnswer());
      await runWhileDue();
      expect([await questioned(), await waiting()]).toEqual([ODD.id, 1]);

      await decide();
      await runWhileDue();

      expect([await questioned(), await waiting(), await stores.generalTasks()]).toEqual([null, 0, []]);
    },
  );
});

test('a decision covers a late answer of an earlier version, which stored no time with it', async () => {
  const attempt = await attemptBesideLateAnswer();
  const { lateAnswer } = await readEntry(stores.redis, { ref: 'T1' }, 1);
  if (!lateAnswer) throw new Error('there is no late answer');
  await changeEntry(stores.redis, { ref: 'T1' }, 1, { lateAnswer: { ...lateAnswer, deliveredAtMs: null } });
  expect(await stores.resolve(`differs.${ODD.id}`)).toBe('done');

  await stores.outbox.settle(attempt, result(RETRY));
  await runWhileDue();

  expect(await stores.states('T1')).toEqual(['started accepted']);
  expect([await questioned(), await waiting(), await stores.generalTasks()]).toEqual([null, 0, []]);
});

test('a late answer that differs from nothing, and that an earlier version stored, settles its report with a time', async () => {
  const attempt = await attemptBesideLateAnswer();
  const { lateAnswer } = await readEntry(stores.redis, { ref: 'T1' }, 1);
  if (!lateAnswer) throw new Error('there is no late answer');
  const stored = { lateAnswer: { ...lateAnswer, openDifferenceId: null, deliveredAtMs: null } };
  await changeEntry(stores.redis, { ref: 'T1' }, 1, stored);

  await stores.outbox.settle(attempt, result(RETRY));
  await runWhileDue();

  const [report] = (await stores.read('T1')).reports;
  expect([report?.state, report?.deliveredAtMs]).toEqual(['accepted', report?.settledAtMs]);
});

test('a kind of difference that a person closed questions no late answer that settles its violation afterwards', async () => {
  const odd = oddAnswer('violation');
  await reportViolations(stores, 'U1');
  const loseClaim = await copyRecord(stores.redis, violationKey('U1'));
  const lost = await mustClaimViolation(violations, 'U1');
  await loseClaim();
  const attempt = await mustClaimViolation(violations, 'U1');
  expect((await violations.settle(lost, takenAs('V-1', { difference: odd }))).kind).toBe('late');
  expect(await stores.resolve(`differs.${odd.id}`)).toBe('done');
  await releaseBlocked(stores.redis);

  await violations.giveBack(attempt, { kind: 'images_unseen', delayMs: 0 });
  while ((await stores.redis.zscore(KEYS.dueViolations, 'U1')) !== null) {
    const claim = await violations.claim('U1');
    if (claim.kind === 'cleanup') await violations.completeCleanup(claim.record);
  }

  expect(await readViolation(stores, 'U1')).toMatchObject({
    state: 'accepted',
    reference: 'V-1',
    openDifferenceId: null,
  });
  expect([await waiting(odd.id), await stores.generalTasks()]).toEqual([0, []]);
});

test('a differing answer that comes after its report was settled opens no task about its kind', async () => {
  await stores.request('T1');
  await stores.say('T1', START);
  const lost = await mustClaim(stores.outbox, 'T1');
  await endLease(stores.redis, towKey('T1'));
  await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));

  expect((await stores.outbox.settle(lost, result(ACCEPTED, { difference: ODD }))).kind).toBe('late');

  expect([await createDifferenceStore(stores.redis).read(ODD.id), await stores.generalTasks()]).toEqual([null, []]);
});

describe('an answer that is stored again because the reply to its commit was lost', () => {
  /** The number of such answers, and the open tasks. */
  const seen = async () => [
    (await createDifferenceStore(stores.redis).read(ODD.id))?.count,
    (await stores.generalTasks()).map(({ type }) => type),
  ];

  test('counts once, and its task stays closed', async () => {
    await stores.request('T1');
    await stores.say('T1', START);
    const attempt = await mustClaim(stores.outbox, 'T1');
    const store = () => stores.outbox.settle(attempt, result(ACCEPTED, { difference: ODD }));
    await store();
    expect(await stores.resolve(`differs.${ODD.id}`)).toBe('done');
    await runWhileDue();

    await store();
    await runWhileDue();

    expect([await questioned(), await waiting(), await seen()]).toEqual([null, 0, [1, []]]);
  });

  test('counts once, and its task stays closed, when it is kept during another attempt', async () => {
    const { lost, attempt } = await attemptsWithLateAnswer();
    expect(await stores.resolve(`differs.${ODD.id}`)).toBe('done');

    await stores.outbox.settle(lost, result(ACCEPTED, { difference: ODD }));
    await stores.outbox.settle(attempt, result(RETRY));
    await runWhileDue();

    expect(await stores.states('T1')).toEqual(['started accepted']);
    expect([await questioned(), await waiting(), await seen()]).toEqual([null, 0, [1, []]]);
  });

  test('settles no report that a person has sent again meanwhile', async () => {
    await stores.request('T1');
    await stores.say('T1', START);
    const attempt = await mustClaim(stores.outbox, 'T1');
    const store = () => stores.outbox.settle(attempt, result(ACCEPTED, { difference: ODD }));
    await store();
    await stores.decide('T1', 'started-1', { action: 'retry' });

    await store();

    expect(await stores.states('T1')).toEqual(['started pending']);
    expect(await mustClaim(stores.outbox, 'T1')).toMatchObject({ entry: { attempts: 2 } });
  });
});
