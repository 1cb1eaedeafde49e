import { newApiKeyView } from '../../src/contracts/operator';
import { useApp } from '../support/app';
import { api, entriesOf, towIn, towPath } from './client';
import { answerHead, deliver, newTow, towAfter, WHEREABOUTS } from './world';
import { setCircuit } from '../support/stored-records';

const app = useApp({ role: 'console' });

/** The actor of an audit entry. `asNightShift` sets the id to that of its new key. */
const by = { by: 'night shift', by_id: '', role: 'ops' };

/** Creates the actor's key and returns a supertest agent with it. */
async function asNightShift() {
  const { id, api_key: apiKey } = newApiKeyView.parse(
    (await api(app).post('/api/keys').send({ name: by.by, role: by.role })).body,
  );
  by.by_id = id;
  return api(app, apiKey);
}

describe('operator API: audit entries', () => {
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
  ] as const)(
    'audits the fact %s, recorded after %j with the body %j, with actor, time and reason',
    async (event, before, body, action, why) => {
      const ref = await towAfter(app, ...before);
      const nightShift = await asNightShift();
      let occurredAt: string | undefined;
      const entries = await entriesOf(app, async () => {
        const tow = towIn(await nightShift.post(towPath(ref, `/${event}`)).send(body));
        occurredAt = tow.facts.at(-1)?.occurred_at;
      });
      const on = { towing_reference_id: ref };
      expect(entries).toEqual([{ ...by, action, on, why, what: { occurred_at: occurredAt } }]);
    },
  );

  it('audits a cancel together with the unsent reports that it withdraws', async () => {
    const ref = await towAfter(app, 'started', 'invoice', 'payment');
    const entries = await entriesOf(app, () =>
      api(app).post(towPath(ref, '/canceled')).send({ cancellation_reason: 'gone' }),
    );
    expect(entries).toMatchObject([{ action: 'tow.canceled', what: { also_waived: ['invoice-2', 'payment-3'] } }]);
  });

  it.each([
    ['retry', {}, 'report.retried', null, {}],
    ['waive', { reason: 'confirmed by phone' }, 'report.waived', 'confirmed by phone', {}],
    ['accept', { reason: 'seen there' }, 'report.accepted_by_hand', 'seen there', {}],
    [
      'correct',
      { plate_number: 'KLM 77', towed_location: 'Tahlia Street' },
      'report.corrected',
      null,
      { fields: ['plate_number', 'towed_location'] },
    ],
  ] as const)(
    'audits the decision %s on a refused report with actor and reason, and with field names but no values',
    async (decision, body, action, why, what) => {
      const ref = await towAfter(app, 'started');
      const reportId = await answerHead(app, ref, 'refused');
      const nightShift = await asNightShift();
      const entries = await entriesOf(app, () =>
        nightShift.post(towPath(ref, `/reports/${reportId}/${decision}`)).send(body),
      );
      expect(entries).toEqual([{ ...by, action, on: { towing_reference_id: ref, report_id: reportId }, why, what }]);
    },
  );

  it('audits a waived invoice together with the payment that is waived with it', async () => {
    const ref = await towAfter(app, 'started', 'invoice', 'payment');
    await answerHead(app, ref, 'accepted');
    const invoice = await answerHead(app, ref, 'refused');
    const body = { reason: 'billed on paper' };
    const entries = await entriesOf(app, () =>
      api(app)
        .post(towPath(ref, `/reports/${invoice}/waive`))
        .send(body),
    );
    expect(entries).toMatchObject([{ action: 'report.waived', what: { also_waived: ['payment-3'] } }]);
  });

  it('audits the resolution of a task with its type and its tow', async () => {
    const ref = await newTow(app);
    await deliver(app, 'tow_request', { violation_reference_id: 'V-other', towing_reference_id: ref });
    const nightShift = await asNightShift();
    const task = `rival_request.${ref}`;
    const entries = await entriesOf(app, () =>
      nightShift.post(`/api/tasks/${task}/resolve`).send({ reason: 'asked them' }),
    );
    const on = { task_id: task, towing_reference_id: ref };
    const what = { task_type: 'rival_request' };
    expect(entries).toEqual([{ ...by, action: 'task.resolved', on, why: 'asked them', what }]);
  });

  it('audits the replay of a delivery with its tow', async () => {
    const ref = 'TW-20261120-REPLAY';
    const { id } = await deliver(app, 'tow_request', { violation_reference_id: 'V-1', towing_reference_id: ref });
    const nightShift = await asNightShift();
    const entries = await entriesOf(app, () => nightShift.post(`/api/deliveries/${id}/replay`).send({}));
    const on = { delivery_id: id, towing_reference_id: ref };
    expect(entries).toEqual([{ ...by, action: 'delivery.replayed', on, why: null, what: {} }]);
  });

  it('audits the resumption of an operation with the reason', async () => {
    await setCircuit(app.foundation.redis, 'paused.detained', { untilMs: Date.now() + 60_000 });
    const nightShift = await asNightShift();
    const body = { reason: 'they opened it again' };
    const entries = await entriesOf(app, () => nightShift.post('/api/operations/detained/resume').send(body));
    expect(entries).toEqual([
      { ...by, action: 'operation.resumed', on: { operation: 'detained' }, why: body.reason, what: {} },
    ]);
  });

  it('audits the creation of an API key with its role, and its revocation', async () => {
    const nightShift = await asNightShift();
    let id = '';
    const entries = await entriesOf(app, async () => {
      ({ id } = newApiKeyView.parse((await nightShift.post('/api/keys').send({ name: 'yard', role: 'crew' })).body));
      await nightShift.delete(`/api/keys/${id}`).expect(204);
    });
    expect(entries).toEqual([
      { ...by, action: 'key.revoked', on: { key_id: id }, why: null, what: {} },
      { ...by, action: 'key.created', on: { key_id: id }, why: null, what: { granted_role: 'crew' } },
    ]);
  });
});
