import { page } from '../../src/contracts/paging';
import { taskView } from '../../src/contracts/operator';
import { violationGivenUpTask } from '../../src/domain/violation-tasks';
import { createViolationOutbox } from '../../src/store/violation-outbox';
import { useApp } from '../support/app';
import { UNKNOWN } from '../support/stores';
import { claimAs, outcome } from '../support/violations';
import { audited } from './audited';
import { errorOf, get, post, towOf } from './client';
import { REQUIRED, report, violationIn } from './forms';
import { newViolation, violationOf } from './violation-world';
import { newTow } from './world';

const app = useApp({ role: 'console' });

const decide = (id: string, action: string, body: object) => post(app, `/api/violations/${id}/${action}`, body);
const codeOf = async (answer: ReturnType<typeof post>) => [(await answer).status, errorOf(await answer).code];
const taskTypes = async () =>
  page(taskView)
    .parse((await get(app, '/api/tasks')).json)
    .items.map(({ type }) => type);
const NOT_ALLOWED = [409, 'correct_not_allowed'];
const FAILED = { next: 'retry', delayMs: 0, because: 'failed' } as const;
const REFUSED = { next: 'refused', hint: 'perhaps_already_accepted' } as const;

/** What workers store; none runs here. */
function outbox(giveUpAfterMs = 3_600_000) {
  const { redis, clock } = app.foundation;
  const violationBudget = { limit: 0, windowMs: 60_000 };
  const times = { leaseMs: 30_000, proofMs: 3_600_000, giveUpAfterMs };
  return createViolationOutbox(redis, clock, { ...times, violationBudget, checksTicket: false });
}

/** Sent once, with this outcome. */
async function sentAs(...what: Parameters<typeof outcome>): Promise<string> {
  const id = await newViolation(app);
  await outbox().ack(await claimAs(outbox(), id, 'send'), outcome(...what));
  return id;
}

describe('a correction', () => {
  it('is refused while what was sent may have worked, also once it was said to send it again', async () => {
    const id = await sentAs(UNKNOWN);
    expect(await codeOf(decide(id, 'correct', { plateType: 'TAXI' }))).toEqual(NOT_ALLOWED);
    expect((await decide(id, 'retry', {})).status).toBe(202);
    expect(await codeOf(decide(id, 'correct', { plateType: 'TAXI' }))).toEqual(NOT_ALLOWED);
    const failed = await sentAs(FAILED);
    expect(await codeOf(decide(failed, 'correct', { plateType: 'TAXI' }))).toEqual(NOT_ALLOWED);
  });

  it('of what was surely not sent is taken', async () => {
    const id = await sentAs({ ...FAILED, because: 'surely_not_sent' }, { hadNoEffect: true });
    expect((await decide(id, 'correct', { plateType: 'TAXI' })).status).toBe(202);
  });

  it('of what was refused after a try that may have worked is taken; proof of that try is a task, and the audit names the violation', async () => {
    const id = await sentAs(FAILED);
    await outbox().ack(await claimAs(outbox(), id, 'send'), outcome(REFUSED, { hadNoEffect: true }));
    expect((await decide(id, 'correct', { plateType: 'TAXI' })).status).toBe(202);

    await newTow(app, { violation_reference_id: 'V-1', metadata: { id } });

    expect((await violationOf(app, id)).state).toBe('accepted');
    expect(await taskTypes()).toEqual(['violation_before_correction']);
    expect((await post(app, `/api/tasks/violation_before_correction.${id}/resolve`)).status).toBe(202);
    const [entry] = (await audited(app)).items;
    expect(entry).toMatchObject({ action: 'task.resolved', on: { violation_id: id } });
  });

  it('of what has kept failing until a person was asked is taken', async () => {
    const id = await sentAs(FAILED);
    await app.foundation.redis.hset(`{p0}:violation:${id}`, 'give_up_at', 1);
    const handed = await claimAs(outbox(), id, 'hand_over');
    await outbox().handOver(id, handed, violationGivenUpTask({ id, attempts: 1 }));
    expect(await taskTypes()).toEqual(['violation_given_up']);

    expect((await decide(id, 'correct', { plateType: 'TAXI' })).status).toBe(202);
  });
});

it('a violation is not accepted by hand under the reference of another one', async () => {
  const [first, second] = [await newViolation(app), await newViolation(app)];
  const seen = { reason: 'seen', violation_reference_id: 'V-1' };
  expect((await decide(first, 'accept', seen)).status).toBe(202);
  expect(await codeOf(decide(second, 'accept', seen))).toEqual([409, 'reference_taken']);
  expect((await violationOf(app, second)).state).toBe('pending');
});

describe('the id in the metadata of a waived violation', () => {
  const fields = { ...REQUIRED, metadata: '{"id":"case-1"}' };

  it('may be used again when it was surely never sent', async () => {
    const { id } = violationIn(await report(app, fields));
    expect((await decide('case-1', 'waive', { reason: 'typing error' })).json).toMatchObject({ id, state: 'waived' });
    const next = violationIn(await report(app, fields));
    expect((await violationOf(app, 'case-1')).id).toBe(next.id);
    const ref = await newTow(app, { violation_reference_id: 'V-1', metadata: { id: 'case-1' } });
    expect((await towOf(app, ref)).violation_id).toBe(next.id);
  });

  it('may not when it may have been sent, and the refusal says why', async () => {
    const { id } = violationIn(await report(app, fields));
    await outbox().ack(await claimAs(outbox(), id, 'send'), outcome(UNKNOWN));
    expect((await decide(id, 'waive', { reason: 'typing error' })).status).toBe(202);
    const again = await report(app, fields);
    expect([again.status, errorOf(again).code]).toEqual([409, 'metadata_id_taken']);
    expect(errorOf(again).message).toContain('may have been sent');
  });
});
