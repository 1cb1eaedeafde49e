import { page } from '../../src/contracts/paging';
import { taskView } from '../../src/contracts/operator';
import { createViolationOutbox } from '../../src/store/outbox/outbox';
import { useApp } from '../support/app';
import { NOT_SENT, refusedWith } from '../support/exchanges';
import { UNKNOWN } from '../support/stores';
import { claimAs, outcome } from '../support/violations';
import { api, type ApiResponse, audited, errorOf, towOf } from './client';
import { REQUIRED, report, violationIn } from './forms';
import { newTow, newViolation, violationOf } from './world';
import { changeEntry } from '../support/stored-records';

const app = useApp({ role: 'console' });

const decide = (id: string, action: string, body: object) =>
  api(app).post(`/api/violations/${id}/${action}`).send(body);
const refusalOf = (response: ApiResponse) => [response.status, errorOf(response).code];
const taskTypes = async () => {
  const response = await api(app).get('/api/tasks');
  return page(taskView)
    .parse(response.body)
    .items.map(({ type }) => type);
};
const NOT_ALLOWED = [409, 'correct_not_allowed'];
const FAILED = { next: 'retry', delayMs: 0, because: 'failed' } as const;
const REFUSED = { next: 'refused', hint: 'perhaps_already_accepted' } as const;

/** The store that workers write to; no worker runs here. */
function outbox(giveUpAfterMs = 3_600_000) {
  const { redis, clock } = app.foundation;
  const rateLimit = { limit: 0, windowMs: 60_000 };
  const times = { leaseMs: 30_000, graceMs: 3_600_000, giveUpAfterMs };
  return createViolationOutbox(redis, clock, { ...times, rateLimit, checksTicket: false });
}

/** Stores a violation and one attempt to send it with this outcome. */
async function sentAs(...what: Parameters<typeof outcome>): Promise<string> {
  const id = await newViolation(app);
  await outbox().settle(await claimAs(outbox(), id, 'send'), outcome(...what));
  return id;
}

describe('operator API: corrections of violations that may have been accepted', () => {
  it('refuses to correct a violation whose attempt may have taken effect, also after a manual retry', async () => {
    const id = await sentAs(UNKNOWN);
    expect(refusalOf(await decide(id, 'correct', { plateType: 'TAXI' }))).toEqual(NOT_ALLOWED);
    await decide(id, 'retry', {}).expect(202);
    expect(refusalOf(await decide(id, 'correct', { plateType: 'TAXI' }))).toEqual(NOT_ALLOWED);
    const failed = await sentAs(FAILED);
    expect(refusalOf(await decide(failed, 'correct', { plateType: 'TAXI' }))).toEqual(NOT_ALLOWED);
  });

  it('corrects a violation that was certainly not sent', async () => {
    const id = await sentAs({ ...FAILED, because: 'surely_not_sent' }, { exchange: NOT_SENT });
    await decide(id, 'correct', { plateType: 'TAXI' }).expect(202);
  });

  it('corrects a refused violation and opens an audited task when an earlier attempt turns out to have been accepted', async () => {
    const id = await sentAs(FAILED);
    await outbox().settle(await claimAs(outbox(), id, 'send'), outcome(REFUSED, { exchange: refusedWith(400) }));
    await decide(id, 'correct', { plateType: 'TAXI' }).expect(202);

    await newTow(app, { violation_reference_id: 'V-1', metadata: { id } });

    expect((await violationOf(app, id)).state).toBe('accepted');
    expect(await taskTypes()).toEqual(['violation_before_correction']);
    await api(app).post(`/api/tasks/violation_before_correction.${id}/resolve`).send({}).expect(202);
    const [entry] = (await audited(app)).items;
    expect(entry).toMatchObject({ action: 'task.resolved', on: { violation_id: id } });
  });

  it('corrects a violation that was escalated after repeated failures', async () => {
    const id = await sentAs(FAILED);
    await changeEntry(app.foundation.redis, { violationId: id }, 1, { giveUpAtMs: 1 });
    await claimAs(outbox(), id, 'escalated');
    expect(await taskTypes()).toEqual(['violation_given_up']);

    await decide(id, 'correct', { plateType: 'TAXI' }).expect(202);
  });
});

it('refuses to accept a violation by hand with the reference of another violation', async () => {
  const [first, second] = [await newViolation(app), await newViolation(app)];
  const seen = { reason: 'seen', violation_reference_id: 'V-1' };
  await decide(first, 'accept', seen).expect(202);
  expect(refusalOf(await decide(second, 'accept', seen))).toEqual([409, 'reference_taken']);
  expect((await violationOf(app, second)).state).toBe('pending');
});

describe('operator API: metadata ids of waived violations', () => {
  const fields = { ...REQUIRED, metadata: '{"id":"case-1"}' };

  it('accepts the metadata id of a waived violation again when the violation was certainly never sent', async () => {
    const { id } = violationIn(await report(app, fields));
    const waived = await decide('case-1', 'waive', { reason: 'typing error' });
    expect(waived.body).toMatchObject({ id, state: 'waived' });
    const next = violationIn(await report(app, fields));
    expect((await violationOf(app, 'case-1')).id).toBe(next.id);
    const ref = await newTow(app, { violation_reference_id: 'V-1', metadata: { id: 'case-1' } });
    expect((await towOf(app, ref)).violation_id).toBe(next.id);
  });

  it('refuses the metadata id of a waived violation that may have been sent with 409 and gives the reason', async () => {
    const { id } = violationIn(await report(app, fields));
    await outbox().settle(await claimAs(outbox(), id, 'send'), outcome(UNKNOWN));
    await decide(id, 'waive', { reason: 'typing error' }).expect(202);
    const again = await report(app, fields);
    expect([again.status, errorOf(again).code]).toEqual([409, 'metadata_id_taken']);
    expect(errorOf(again).message).toContain('may have been sent');
  });
});
