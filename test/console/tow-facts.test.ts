import { messagesIn } from '../../src/console/messages';
import { api, newKey, towOf } from '../operator/client';
import { answerHead, newTow, newViolation, towAfter, WHEREABOUTS } from '../operator/world';
import { useApp } from '../support/app';
import { awayFromMidnight } from '../support/midnight';
import { apiPath, formsOf, markupOf, pagePath, sendForm, textIn } from './tow-world';
import { signedIn, textOf, type Visitor } from './visitor';
import { valueIn } from './violation-world';

const app = useApp({ role: 'console', environment: { FREE_DAYS: '1' } });
let visitor: Visitor;
beforeEach(async () => {
  visitor = await signedIn(app, await newKey(app, 'dispatcher'));
});

const PLACE = { plate_number: 'KLM 77', towed_location: 'Olaya Street', latitude: '24.5', longitude: '46.5' };

test('records a tow from request to release by its forms and highlights the next fact', async () => {
  const ref = await newTow(app);
  const steps = [
    ['started', PLACE],
    ['detained', {}],
    ['invoice', { vehicle_type: 'HEAVY' }],
    ['payment', { payment_status: 'PAID', external_reference: 'receipt 17' }],
    ['released', {}],
  ] as const;
  let response = await visitor.get(pagePath(ref));
  for (const [event, fields] of steps) {
    expect(markupOf(response.html, 'next')).toMatch(
      new RegExp(`class="fact-next"[^]*action="${pagePath(ref)}/${event}"`),
    );
    response = await sendForm(visitor, pagePath(ref, `/${event}`), fields);
    expect(textOf(response.html)).toContain('Recorded. Its report to the service is below.');
  }
  const tow = await towOf(app, ref);
  expect(tow).toMatchObject({ state: 'released', plate_number: 'KLM 77', latitude: 24.5 });
  expect(tow.facts.map(({ event }) => event)).toEqual(['started', 'detained', 'invoice', 'payment', 'released']);
  expect(textIn(response.html, 'next')).toContain('No further events can be recorded for this tow.');
});

test('asks at the start of a tow only for values that its violation does not provide', async () => {
  await newViolation(app, { id: 'case-9' });
  const known = await newTow(app, { metadata: { id: 'case-9' } });
  const { html } = await visitor.get(pagePath(known));
  const form = markupOf(html, 'form-started');
  expect(form).not.toMatch(/<input[^>]+name="plate_number"[^>]+required/);
  expect(textIn(html, 'form-started')).toContain('King Fahd Road, Riyadh');
  await sendForm(visitor, pagePath(known, '/started'));
  expect(await towOf(app, known)).toMatchObject({ state: 'started', plate_number: 'ABJ 1235' });

  const unknown = await visitor.get(pagePath(await newTow(app)));
  expect(unknown.html).toMatch(/<input[^>]+name="plate_number"[^>]+required/);
});

test('refuses a start when the tow was linked to another violation meanwhile, and keeps what was entered', async () => {
  const place = { location: 'Olaya Street', latitude: 24.69, longitude: 46.68 };
  const violations = [
    { ...place, metadata_id: 'case-a', plateNumber: 'ABJ 1235' },
    { ...place, metadata_id: 'case-b', plateNumber: 'KLM 77' },
  ];
  await api(app).post('/api/violations/known').send({ violations }).expect(202);
  const ref = await newTow(app, { metadata: { id: 'case-a' } });
  const link = (id: string) => api(app).post(apiPath(ref, '/violation')).send({ violation_id: id }).expect(202);
  const shown = await visitor.get(pagePath(ref));
  expect(textIn(shown.html, 'form-started')).toContain('A B J 1235');
  await link('case-b');
  const entered = { occurred_at: '2026-01-05T09:14' };
  const refused = await visitor.post(pagePath(ref, '/started'), entered);
  expect(refused.status).toBe(409);
  expect(textOf(refused.html)).toContain(messagesIn('en').refusals.changed_meanwhile);
  expect(textIn(refused.html, 'form-started')).toContain('KLM 77');
  expect(markupOf(refused.html, 'form-started')).toContain(`value="${entered.occurred_at}"`);
  expect((await towOf(app, ref)).state).toBe('requested');
  await sendForm(visitor, pagePath(ref, '/started'), entered);
  expect(await towOf(app, ref)).toMatchObject({ state: 'started', plate_number: 'KLM 77' });
});

test('names the invalid fields of a started form and keeps the entered values', async () => {
  const ref = await newTow(app);
  await visitor.get(pagePath(ref));
  const entered = {
    ...PLACE,
    latitude: '124.5',
    longitude: 'east',
    towed_location: 'شارع <العليا>',
    occurred_at: '2099-01-01T10:00',
  };
  const response = await visitor.post(pagePath(ref, '/started'), entered);
  expect(response.status).toBe(422);
  const form = markupOf(response.html, 'form-started');
  expect(form).toContain('role="alert"');
  expect(form).toMatch(/id="fact-started-latitude-error"/);
  expect(form).toMatch(/id="fact-started-longitude-error"/);
  for (const value of ['KLM 77', '124.5', 'east', 'شارع &lt;العليا&gt;', '2099-01-01T10:00'])
    expect(form).toContain(`value="${value}"`);
  expect((await towOf(app, ref)).state).toBe('requested');
});

test('reads the entered time of a fact as Riyadh time', async () => {
  const ref = await newTow(app);
  await visitor.get(pagePath(ref));
  await sendForm(visitor, pagePath(ref, '/started'), { ...PLACE, occurred_at: '2026-01-05T09:14' });
  expect((await towOf(app, ref)).facts[0]?.occurred_at).toBe('2026-01-05T06:14:00Z');
});

test('accepts a fact in the same minute as the previous fact and refuses an earlier one with the Riyadh time', async () => {
  const ref = await newTow(app);
  await api(app)
    .post(apiPath(ref, '/started'))
    .send({ ...WHEREABOUTS, occurred_at: '2026-01-05T06:14:30Z' });
  await visitor.get(pagePath(ref));
  await sendForm(visitor, pagePath(ref, '/detained'), { occurred_at: '2026-01-05T09:14' });
  expect((await towOf(app, ref)).facts[1]?.occurred_at).toBe('2026-01-05T06:14:30Z');
  const earlier = await visitor.post(pagePath(ref, '/released'), { occurred_at: '2026-01-05T09:13' });
  expect(earlier.status).toBe(422);
  expect(markupOf(earlier.html, 'form-released')).toContain('id="fact-released-occurred_at-error"');
  expect(textIn(earlier.html, 'form-released')).toMatch(/the previous fact \(5 Jan[ \d]*, 09:14\)/);
  visitor.cookies.set('towhook_language', 'ar');
  const inArabic = await visitor.post(pagePath(ref, '/released'), { occurred_at: '2026-01-05T09:13' });
  expect(textIn(inArabic.html, 'form-released')).toMatch(/\(5 يناير[ \d]*، 09:14\)/);
});

describe('console: cancellation', () => {
  test.each([
    [{ cancellation_reason: 'Gone on arrival' }, 'Gone on arrival'],
    [{ cancellation_reason: 'Wrong vehicle', cancellation_more: ' blue van ' }, 'Wrong vehicle: blue van'],
    [{ cancellation_reason: 'other', cancellation_more: 'flooded street' }, 'flooded street'],
  ])('turns the cancellation fields %j into the reason "%s"', async (fields, reason) => {
    const ref = await newTow(app);
    await visitor.get(pagePath(ref));
    const response = await sendForm(visitor, pagePath(ref, '/canceled'), fields);
    expect((await towOf(app, ref)).cancellation_reason).toBe(reason);
    expect(textIn(response.html, 'tow-head')).toContain(reason);
  });

  test.each([{ cancellation_more: 'blue van' }, { cancellation_reason: 'other', cancellation_more: ' ' }])(
    'refuses a cancellation without a reason (%j) with 422 and keeps the entered text',
    async (fields) => {
      const ref = await newTow(app);
      await visitor.get(pagePath(ref));
      const response = await visitor.post(pagePath(ref, '/canceled'), fields);
      expect(response.status).toBe(422);
      expect(markupOf(response.html, 'form-canceled')).toContain(`value="${fields.cancellation_more}"`);
    },
  );

  test('shows that another reason is missing at its text field and not at the list', async () => {
    const ref = await newTow(app);
    await visitor.get(pagePath(ref));
    const { html } = await visitor.post(pagePath(ref, '/canceled'), { cancellation_reason: 'other' });
    const form = markupOf(html, 'form-canceled');
    expect(form).toContain('id="fact-canceled-cancellation_more-error"');
    expect(form).not.toContain('id="fact-canceled-cancellation_reason-error"');
  });

  test('requires ops and a reason to cancel a tow with an invoice', async () => {
    const ref = await towAfter(app, 'started', 'invoice');
    await answerHead(app, ref, 'accepted');
    await answerHead(app, ref, 'accepted');
    expect(textIn((await visitor.get(pagePath(ref))).html, 'next')).toContain(
      'Canceled (it has an invoice; requires the role ops)',
    );
    const ops = await signedIn(app);
    const offered = await ops.get(pagePath(ref));
    expect(markupOf(offered.html, 'form-canceled')).toMatch(/<textarea[^>]+name="reason"[^>]+required/);
    expect((await ops.post(pagePath(ref, '/canceled'), { cancellation_reason: 'Wrong vehicle' })).status).toBe(409);
    await sendForm(ops, pagePath(ref, '/canceled'), { cancellation_reason: 'Wrong vehicle', reason: 'court order' });
    expect((await towOf(app, ref)).state).toBe('canceled');
  });
});

describe('console: invoice form', () => {
  beforeEach(awayFromMidnight);

  test('refuses days of delay in other than plain decimal notation and keeps what was entered', async () => {
    const ref = await towAfter(app, 'started', 'detained');
    await visitor.get(pagePath(ref));
    const entered = { vehicle_type: 'HEAVY', delay_in_days: '1e3', override_reason: 'agreed' };
    const { status, html } = await visitor.post(pagePath(ref, '/invoice'), entered);
    expect(status).toBe(422);
    expect(markupOf(html, 'form-invoice')).toContain('value="1e3"');
    expect((await towOf(app, ref)).facts.map(({ event }) => event)).toEqual(['started', 'detained']);
  });

  const ago = (days: number) => new Date(app.foundation.clock.nowMs() - days * 86_400_000).toISOString();

  test('refuses an invoice whose computed days differ from the shown ones, keeps the input, and shows them', async () => {
    const ref = await newTow(app);
    await api(app)
      .post(apiPath(ref, '/started'))
      .send({ ...WHEREABOUTS, occurred_at: ago(4) });
    const shown = await visitor.get(pagePath(ref));
    expect(textIn(shown.html, 'form-invoice')).toContain('0 days of delay will be invoiced');
    await api(app)
      .post(apiPath(ref, '/detained'))
      .send({ occurred_at: ago(3) });
    const entered = { vehicle_type: 'HEAVY', override_reason: 'agreed' };
    const refused = await visitor.post(pagePath(ref, '/invoice'), entered);
    expect(refused.status).toBe(409);
    expect(textOf(refused.html)).toContain(messagesIn('en').refusals.changed_meanwhile);
    expect(textIn(refused.html, 'form-invoice')).toContain('2 days of delay will be invoiced');
    expect(markupOf(refused.html, 'form-invoice')).toContain('value="agreed"');
    expect((await towOf(app, ref)).facts.map(({ event }) => event)).toEqual(['started', 'detained']);
    const response = await sendForm(visitor, pagePath(ref, '/invoice'), { vehicle_type: 'HEAVY' });
    expect(textIn(response.html, 'invoice')).toContain('Requested: HEAVY, 2 days of delay');
  });

  test('explains the computed delay days of an invoice and accepts an override with a reason', async () => {
    const ref = await newTow(app);
    await api(app)
      .post(apiPath(ref, '/started'))
      .send({ ...WHEREABOUTS, occurred_at: ago(4) });
    await api(app)
      .post(apiPath(ref, '/detained'))
      .send({ occurred_at: ago(3) });
    const { html } = await visitor.get(pagePath(ref));
    expect(textIn(html, 'form-invoice')).toContain('2 days of delay will be invoiced');
    expect(textIn(html, 'form-invoice')).toContain('3 calendar days in Riyadh since then, less 1 free days');
    const wrong = await visitor.post(pagePath(ref, '/invoice'), {
      vehicle_type: 'HEAVY',
      delay_in_days: '2.5',
      override_reason: 'agreed',
    });
    expect(wrong.status).toBe(422);
    expect(markupOf(wrong.html, 'form-invoice')).toContain('value="2.5"');
    const response = await sendForm(visitor, pagePath(ref, '/invoice'), {
      vehicle_type: 'HEAVY',
      delay_in_days: '9',
      override_reason: 'agreed',
    });
    expect(textIn(response.html, 'invoice')).toContain(
      'Requested: HEAVY, 9 days of delay (computed: 2; reason: agreed)',
    );
  });
});

describe('console: facts that are not allowed', () => {
  test('offers no form for a fact that is not allowed and explains why', async () => {
    const ref = await towAfter(app, 'started', 'detained', 'invoice');
    const { html } = await visitor.get(pagePath(ref));
    expect(formsOf(html, ref)).not.toContain('released');
    expect(textIn(html, 'next')).toContain('Released (record the payment first)');
    expect(textIn(html, 'checklist')).toContain('Payment recorded missing');
  });

  test('refuses a fact that is not allowed with 409 and explains it in Arabic', async () => {
    const ref = await towAfter(app, 'started', 'detained', 'invoice');
    await visitor.get(pagePath(ref));
    visitor.cookies.set('towhook_language', 'ar');
    const response = await visitor.post(pagePath(ref, '/released'), {});
    expect(response.status).toBe(409);
    expect(textOf(response.html)).toContain('سجّل الدفع قبل الإفراج.');
  });

  test('blocks payment and release of a tow on hold and shows the hold in the checklist', async () => {
    const ref = await towAfter(app, 'started', 'detained', 'invoice');
    await api(app).post(apiPath(ref, '/holds')).send({ reason: 'police' });
    const { html } = await visitor.get(pagePath(ref));
    expect(formsOf(html, ref)).not.toContain('payment');
    expect(textIn(html, 'next')).toContain('Payment (the tow is on hold)');
    expect(textIn(html, 'checklist')).toContain('No open hold missing');
    expect(textIn(html, 'tow-head')).toContain('On hold');
  });

  test('names no hold as the reason against the payment of a tow that is paid', async () => {
    const ref = await towAfter(app, 'started', 'detained', 'invoice', 'payment');
    await api(app).post(apiPath(ref, '/holds')).send({ reason: 'police' });
    const next = textIn((await visitor.get(pagePath(ref))).html, 'next');
    expect(next).toContain('Released (the tow is on hold)');
    expect(next).not.toContain('Payment (');
  });
});

test('records a fact once when its form is sent twice', async () => {
  const ref = await newTow(app);
  const { html } = await visitor.get(pagePath(ref));
  const token = /name="form_token" value="([^"]+)"/.exec(html)?.[1] ?? '';
  const form = markupOf(html, 'form-started');
  const hidden = { form_key: valueIn(form, 'form_key'), question: valueIn(form, 'question') };
  const body = new URLSearchParams({ form_token: token, ...hidden, ...PLACE }).toString();
  const sent = [
    await visitor.postRaw(pagePath(ref, '/started'), body),
    await visitor.postRaw(pagePath(ref, '/started'), body),
  ];
  expect(sent.map(({ location }) => location)).toEqual([pagePath(ref), pagePath(ref)]);
  expect((await towOf(app, ref)).facts).toHaveLength(1);
});
