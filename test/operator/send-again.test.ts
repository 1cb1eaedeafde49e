import { releaseBlocked } from '../../src/store/release-blocked';
import { KEYS } from '../../src/store/keys';
import { useApp } from '../support/app';
import { api, audited, errorOf, newKey, towIn, towOf, towPath } from './client';
import { answerHead, claimHead, deliver, towAfter } from './world';
import { changeEntry } from '../support/stored-records';

/** Sending again what the service accepted with an answer that breaks the contract. */

const app = useApp({ role: 'console' });

const decide = (ref: string, reportId: string, action: string, body: object = {}, apiKey = app.apiKey) =>
  api(app, apiKey)
    .post(towPath(ref, `/reports/${reportId}/${action}`))
    .send(body);
const differenceOn = async (ref: string) =>
  (await towOf(app, ref)).reports.find((each) => each.difference_id)?.difference_id;
const declareExpected = (id = '') =>
  api(app)
    .post(`/api/differences/${encodeURIComponent(id)}/expect`)
    .send({});
/** What a worker does when it finds nothing to send. */
const wake = async (ref: string) => {
  await releaseBlocked(app.foundation.redis);
  await expect(claimHead(app, ref)).rejects.toThrow('idle');
};
const states = async (ref: string) => (await towOf(app, ref)).reports.map(({ kind, state }) => `${kind} ${state}`);

/** A tow whose first reports were accepted, one of them with such an answer. Returns the ids of both. */
async function towWithDrift(facts: Parameters<typeof towAfter>[1][], outcomes: readonly ('accepted' | 'drift')[]) {
  const ref = await towAfter(app, ...facts);
  let id = '';
  for (const outcome of outcomes) {
    const answered = await answerHead(app, ref, outcome);
    if (outcome === 'drift') id = answered;
  }
  return { ref, id };
}

describe('operator API: a report that was accepted with a broken answer', () => {
  it('is sent again with the same body after a retry', async () => {
    const ref = await towAfter(app, 'started');
    const { body } = (await towOf(app, ref)).reports[0] ?? {};
    await answerHead(app, ref, 'drift');
    const id = await differenceOn(ref);
    expect(id).toMatch(/^answer\.started\./);

    const tow = towIn(await decide(ref, 'started-1', 'retry'));

    expect(tow.reports).toMatchObject([
      { state: 'pending', delivered_at: null, broken_answer: '{"done":true}', difference_id: null },
    ]);
    expect(await claimHead(app, ref)).toMatchObject({
      entry: { id: 'started-1', attempts: 2, failures: 0, unanswered: 1, body },
    });
  });

  it('goes before the reports recorded after it that were not accepted yet, and repeats no other one', async () => {
    const { ref, id } = await towWithDrift(['started', 'detained', 'released'], ['drift', 'accepted']);
    towIn(await decide(ref, id, 'retry'));
    expect(await states(ref)).toEqual(['started pending', 'detained accepted', 'released pending']);

    expect(await answerHead(app, ref, 'accepted')).toBe('started-1');
    expect(await answerHead(app, ref, 'accepted')).toBe('released-3');
    expect(await states(ref)).toEqual(['started accepted', 'detained accepted', 'released accepted']);
    expect((await towOf(app, ref)).reports[0]?.broken_answer).toBeNull();
  });

  it('may be sent again once more when the next answer breaks the contract too', async () => {
    const { ref, id } = await towWithDrift(['started'], ['drift']);
    towIn(await decide(ref, id, 'retry'));
    await answerHead(app, ref, 'drift');

    expect(await differenceOn(ref)).toMatch(/^answer\.started\./);
    towIn(await decide(ref, id, 'retry'));
    expect((await claimHead(app, ref)).entry.attempts).toBe(3);
  });

  it('takes no other decision, and none once such answers are expected', async () => {
    const { ref, id } = await towWithDrift(['started'], ['drift']);
    const bodies = { correct: { plate_number: 'KLM 1' }, waive: { reason: 'x' }, accept: { reason: 'x' } };
    for (const [action, body] of Object.entries(bodies)) {
      expect(errorOf(await decide(ref, id, action, body).expect(409)).code).toBe('report_settled');
    }
    await declareExpected((await differenceOn(ref)) ?? '').expect(202);
    await wake(ref);

    expect(errorOf(await decide(ref, id, 'retry').expect(409)).code).toBe('report_settled');
    expect(await states(ref)).toEqual(['started accepted']);
  });

  it('is not sent again while another report of its tow is on its way', async () => {
    const { ref, id } = await towWithDrift(['started', 'detained'], ['drift']);
    await claimHead(app, ref);

    expect(errorOf(await decide(ref, id, 'retry').expect(409)).code).toBe('report_in_flight');
  });

  it('keeps its tow until it is accepted again', async () => {
    const { ref, id } = await towWithDrift(['started', 'released'], ['drift', 'accepted']);
    const isArchivable = async () => (await app.redis.ask('ZSCORE', KEYS.retireTows, ref)) !== null;
    expect(await isArchivable()).toBe(false);
    towIn(await decide(ref, id, 'retry'));
    expect(await isArchivable()).toBe(false);
    expect(await app.redis.ask('ZSCORE', KEYS.dueTows, ref)).not.toBeNull();

    await answerHead(app, ref, 'accepted');
    expect(await isArchivable()).toBe(true);
  });

  it('as an invoice is sent once per retry: without an answer it is not repeated, and a person is asked', async () => {
    const { ref, id } = await towWithDrift(['started', 'invoice', 'payment'], ['accepted', 'drift']);
    towIn(await decide(ref, id, 'retry'));
    await answerHead(app, ref, 'unknown');
    const tow = await towOf(app, ref);
    expect(tow.reports).toMatchObject([{}, { state: 'unknown' }, { state: 'pending' }]);

    await changeEntry(app.foundation.redis, { ref }, 2, { nextAtMs: 1 });
    await expect(claimHead(app, ref)).rejects.toThrow('escalated');
  });

  it('as an invoice whose webhook has come cannot be sent again, which the webhook would settle without a call', async () => {
    const { ref, id } = await towWithDrift(['started', 'invoice', 'payment'], ['accepted', 'drift']);
    const { violation_reference_id } = await towOf(app, ref);
    const charge = { invoice_number: 'INV-1', total_amount: 100, paid_amount: 0, tax: 15, vat_number: '3' };
    await deliver(app, 'tow_invoice', { towing_reference_id: ref, violation_reference_id, towing_invoice: charge });
    const refused = await decide(ref, id, 'retry');

    expect([refused.status, errorOf(refused).code]).toEqual([409, 'report_settled']);
    expect((await claimHead(app, ref)).entry.kind).toBe('payment');
    expect(await states(ref)).toEqual(['started accepted', 'invoice accepted', 'payment pending']);
  });

  it('as an invoice cannot be withdrawn by a cancel as one that was never sent', async () => {
    const { ref, id } = await towWithDrift(['started', 'invoice'], ['accepted', 'drift']);
    towIn(await decide(ref, id, 'retry'));

    const dispatcher = await newKey(app, 'dispatcher');
    const response = await api(app, dispatcher).post(towPath(ref, '/canceled')).send({ cancellation_reason: 'gone' });
    expect([response.status, errorOf(response).code]).toEqual([409, 'invoice_exists']);
  });

  it('is sent again once per Idempotency-Key, with one audit entry', async () => {
    const { ref, id } = await towWithDrift(['started'], ['drift']);
    const apiKey = await newKey(app, 'dispatcher', 'night desk');
    const again = () => decide(ref, id, 'retry', {}, apiKey).set('idempotency-key', 'once');
    const first = await again().expect(202);
    await answerHead(app, ref, 'drift');

    const second = await again();
    expect([second.status, second.text]).toEqual([202, first.text]);
    expect(await states(ref)).toEqual(['started accepted']);
    const { items } = await audited(app);
    expect(items.filter(({ action }) => action === 'report.retried')).toMatchObject([
      { by: 'night desk', on: { towing_reference_id: ref, report_id: id } },
    ]);
  });

  it.each(['viewer', 'crew'] as const)('is not sent again by the role %s', async (role) => {
    const { ref, id } = await towWithDrift(['started'], ['drift']);
    const response = await decide(ref, id, 'retry', {}, await newKey(app, role));
    expect([response.status, errorOf(response).code]).toEqual([403, 'role_not_allowed']);
    expect(await states(ref)).toEqual(['started accepted']);
  });
});
