import { newApiKeyView } from '../../src/contracts/operator';
import { KEYS } from '../../src/store/keys';
import { useApp } from '../support/app';
import { entriesOf } from './audited';
import { call, post, towIn, towPath } from './client';
import { answerHead, deliver, newTow, towAfter, WHEREABOUTS } from './world';

const app = useApp({ role: 'console' });

/** Who acts; the id is that of the key that was made last. */
const by = { by: 'night shift', by_id: '', role: 'ops' };
async function asNightShift() {
  const { id, api_key: apiKey } = newApiKeyView.parse(
    (await post(app, '/api/keys', { name: by.by, role: by.role })).json,
  );
  by.by_id = id;
  return { apiKey };
}

describe('one entry with who, what, when and why', () => {
  it.each([
    ['started', [], WHEREABOUTS, 'tow.started', null],
    ['detained', ['started'], {}, 'tow.detained', null],
    ['released', ['started'], {}, 'tow.released', null],
    ['canceled', [], { cancellation_reason: 'gone on arrival' }, 'tow.canceled', 'gone on arrival'],
    ['canceled', [], { cancellation_reason: 'gone', reason: 'seen by crew' }, 'tow.canceled', 'seen by crew'],
    ['invoice', ['started'], { vehicle_type: 'HEAVY' }, 'tow.invoice_requested', null],
    [
      'invoice',
      ['started'],
      { vehicle_type: 'HEAVY', delay_in_days: 0, override_reason: 'yard was closed' },
      'tow.invoice_requested',
      'yard was closed',
    ],
    ['payment', ['started', 'invoice'], { external_reference: 'POS 7' }, 'tow.payment_recorded', null],
  ] as const)('for the fact %s after %j, told %j', async (event, before, body, action, why) => {
    const ref = await towAfter(app, ...before);
    const who = await asNightShift();
    let occurredAt: string | undefined;
    const entries = await entriesOf(app, async () => {
      const tow = towIn(await post(app, towPath(ref, `/${event}`), body, who));
      occurredAt = tow.facts.at(-1)?.occurred_at;
    });
    const on = { towing_reference_id: ref };
    expect(entries).toEqual([{ ...by, action, on, why, what: { occurred_at: occurredAt } }]);
  });

  it('for a cancel that withdraws what was never sent', async () => {
    const ref = await towAfter(app, 'started', 'invoice', 'payment');
    const entries = await entriesOf(app, () => post(app, towPath(ref, '/canceled'), { cancellation_reason: 'gone' }));
    expect(entries).toMatchObject([{ action: 'tow.canceled', what: { also_waived: ['invoice-2', 'payment-3'] } }]);
  });

  it.each([
    ['retry', {}, 'report.retried', null, {}],
    ['waive', { reason: 'told by phone' }, 'report.waived', 'told by phone', {}],
    ['accept', { reason: 'seen there' }, 'report.accepted_by_hand', 'seen there', {}],
    [
      'correct',
      { plate_number: 'KLM 77', towed_location: 'Tahlia Street' },
      'report.corrected',
      null,
      { fields: ['plate_number', 'towed_location'] },
    ],
  ] as const)('for the decision %s', async (decision, body, action, why, what) => {
    const ref = await towAfter(app, 'started');
    const reportId = await answerHead(app, ref, 'refused');
    const who = await asNightShift();
    const entries = await entriesOf(app, () => post(app, towPath(ref, `/reports/${reportId}/${decision}`), body, who));
    expect(entries).toEqual([{ ...by, action, on: { towing_reference_id: ref, report_id: reportId }, why, what }]);
  });

  it('for a waived invoice and the payment that goes with it', async () => {
    const ref = await towAfter(app, 'started', 'invoice', 'payment');
    await answerHead(app, ref, 'accepted');
    const invoice = await answerHead(app, ref, 'refused');
    const body = { reason: 'billed on paper' };
    const entries = await entriesOf(app, () => post(app, towPath(ref, `/reports/${invoice}/waive`), body));
    expect(entries).toMatchObject([{ action: 'report.waived', what: { also_waived: ['payment-3'] } }]);
  });

  it('for a resolved task', async () => {
    const ref = await newTow(app);
    await deliver(app, 'tow_request', { violation_reference_id: 'V-other', towing_reference_id: ref });
    const who = await asNightShift();
    const task = `rival_request.${ref}`;
    const entries = await entriesOf(app, () => post(app, `/api/tasks/${task}/resolve`, { reason: 'asked them' }, who));
    const on = { task_id: task, towing_reference_id: ref };
    const what = { task_type: 'rival_request' };
    expect(entries).toEqual([{ ...by, action: 'task.resolved', on, why: 'asked them', what }]);
  });

  it('for a replayed delivery', async () => {
    const ref = 'TW-20261120-REPLAY';
    const { id } = await deliver(app, 'tow_request', { violation_reference_id: 'V-1', towing_reference_id: ref });
    const who = await asNightShift();
    const entries = await entriesOf(app, () => post(app, `/api/deliveries/${id}/replay`, {}, who));
    const on = { delivery_id: id, towing_reference_id: ref };
    expect(entries).toEqual([{ ...by, action: 'delivery.replayed', on, why: null, what: {} }]);
  });

  it('for an operation that is resumed', async () => {
    await app.redis.ask('HSET', KEYS.gates, 'paused.detained.until', String(Date.now() + 60_000));
    const who = await asNightShift();
    const body = { reason: 'they opened it again' };
    const entries = await entriesOf(app, () => post(app, '/api/operations/detained/resume', body, who));
    expect(entries).toEqual([
      { ...by, action: 'operation.resumed', on: { operation: 'detained' }, why: body.reason, what: {} },
    ]);
  });

  it('for an API key that is made and one that is revoked', async () => {
    const who = await asNightShift();
    let id = '';
    const entries = await entriesOf(app, async () => {
      ({ id } = newApiKeyView.parse((await post(app, '/api/keys', { name: 'yard', role: 'crew' }, who)).json));
      expect((await call(app, ['DELETE', `/api/keys/${id}`], who)).status).toBe(204);
    });
    expect(entries).toEqual([
      { ...by, action: 'key.revoked', on: { key_id: id }, why: null, what: {} },
      { ...by, action: 'key.created', on: { key_id: id }, why: null, what: { granted_role: 'crew' } },
    ]);
  });
});
