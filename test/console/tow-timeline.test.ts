import { AUDIT_ACTIONS } from '../../src/domain/ops/audit';
import { timelineItems } from '../../src/console/pages/tow/timeline';
import { messagesIn } from '../../src/console/messages';
import { api, newKey, towOf } from '../operator/client';
import { answerHead, deliver, newTow, towAfter } from '../operator/world';
import { readSources } from '../architecture/sources';
import { useApp } from '../support/app';
import { apiPath, pagePath, textIn } from './tow-world';
import { signedIn, type Visitor } from './visitor';
import { towKey } from '../../src/store/keys';

const app = useApp({ role: 'console' });
let visitor: Visitor;
beforeEach(async () => {
  visitor = await signedIn(app, await newKey(app, 'viewer'));
});

/** Every timeline type that the source code writes. */
function writtenTypes(): string[] {
  // Types of changes are none of the timeline.
  const sources = readSources(['src/domain', 'src/workflow'], ['.ts']).filter(
    ({ path }) => !path.endsWith('changes.ts'),
  );
  const source = sources.map(({ text }) => text);
  const events = [...source.join('\n').matchAll(/type: '((?:report|tow|invoice|request|violation|fact)\.[a-z_]+)'/g)];
  const byRules = events.map(([, type = '']) => type);
  // Dispatch changes and decisions are written under their audit action, facts under `fact.recorded`.
  const facts = [
    'tow.started',
    'tow.detained',
    'tow.canceled',
    'tow.released',
    'tow.invoice_requested',
    'tow.payment_recorded',
    'tow.violation_linked',
  ];
  const byActs = AUDIT_ACTIONS.filter((action) => /^(?:tow|report)\./.test(action) && !facts.includes(action));
  return [...new Set([...byRules, ...byActs, 'task.resolved'])];
}

test('has a text for every type of timeline entry', () => {
  const written = writtenTypes();
  expect(written.length).toBeGreaterThan(18);
  const known = [...Object.keys(messagesIn('en').timeline.entries), 'fact.recorded'];
  expect(written.filter((type) => !known.includes(type))).toEqual([]);
});

test('lists service calls, actions of people and attempts newest first on the timeline', async () => {
  const ref = await towAfter(app, 'started', 'invoice');
  await answerHead(app, ref, 'accepted');
  await api(app).post(apiPath(ref, '/notes')).send({ text: 'gate B' });
  await deliver(app, 'tow_invoice', {
    violation_reference_id: 'V-1',
    towing_reference_id: ref,
    towing_invoice: { total_amount: 345 },
  });
  const text = textIn((await visitor.get(pagePath(ref))).html, 'timeline');
  const order = [
    'The service posted an invoice',
    'Note added · by bootstrap',
    'Invoice requested · by bootstrap',
    'Start of the tow recorded · by bootstrap',
    'The service requested this tow',
  ].map((sentence) => text.indexOf(sentence));
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(order).not.toContain(-1);
  expect(text).toContain('The service accepted the report “Started”');
});

test('merges an attempt with the report change that it caused and folds failed attempts', async () => {
  const ref = await towAfter(app, 'started');
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await answerHead(app, ref, 'retry');
    await api(app).post(apiPath(ref, '/reports/started-1/retry')).send({});
  }
  await answerHead(app, ref, 'refused');
  const tow = await towOf(app, ref);
  const refusedAtMs = Date.parse(tow.timeline.find(({ type }) => type === 'report.refused')?.at ?? '');
  const startedAt = (at: number) => new Date(refusedAtMs - (3 - at) * 60_000 - 12).toISOString();
  const reports = tow.reports.map((report) => ({
    ...report,
    log: report.log.map((attempt, at) => ({ ...attempt, started_at: startedAt(at) })),
  }));
  const happenings = timelineItems({ ...tow, reports });
  expect(happenings[0]).toMatchObject({ kind: 'attempts', from: 4, to: 4, entry: { type: 'report.refused' } });
  const attempts = happenings.filter(({ kind }) => kind === 'attempts');
  expect(attempts[1]).toMatchObject({ from: 1, to: 3, entry: null });
  expect(attempts).toHaveLength(2);
  const entryTypes = happenings.flatMap((each) => (each.kind === 'entry' ? [each.entry.type] : []));
  expect(entryTypes).toEqual(['report.retried', 'report.retried', 'report.retried', 'fact.recorded', 'tow.requested']);
});

test('does not fold timeline attempts across a gap of discarded attempts', async () => {
  const ref = await towAfter(app, 'started');
  for (let attempt = 0; attempt < 30; attempt += 1) {
    await answerHead(app, ref, 'retry');
    await api(app).post(apiPath(ref, '/reports/started-1/retry')).send({});
  }
  const attempts = timelineItems(await towOf(app, ref)).filter(({ kind }) => kind === 'attempts');
  expect(attempts.map((each) => (each.kind === 'attempts' ? [each.from, each.to] : []))).toEqual(
    expect.arrayContaining([
      [1, 5],
      [11, 30],
    ]),
  );
  expect(attempts).toHaveLength(2);
});

test('shows a timeline entry of an unknown type', async () => {
  const ref = await newTow(app);
  const event = { atMs: app.foundation.clock.nowMs(), entry: { type: 'moon.landed', by: 'Neil <b>' } };
  await app.foundation.redis.hset(towKey(ref), 'e99', JSON.stringify(event));
  const { html } = await visitor.get(pagePath(ref));
  expect(textIn(html, 'timeline')).toContain('Unknown event (moon.landed) · by Neil <b>');
  visitor.cookies.set('towhook_language', 'ar');
  expect(textIn((await visitor.get(pagePath(ref))).html, 'timeline')).toContain('(moon.landed)');
});

test('shows on the timeline when a fact recorded later happened', async () => {
  const ref = await newTow(app);
  await api(app)
    .post(apiPath(ref, '/canceled'))
    .send({ cancellation_reason: 'gone', occurred_at: '2026-01-05T06:14:00Z' });
  expect(textIn((await visitor.get(pagePath(ref))).html, 'timeline')).toContain('happened at 5 Jan');
  await api(app).get(apiPath(ref)).expect(200);
});

describe('console: invoice of a tow', () => {
  const posted = (ref: string, total: number) =>
    deliver(app, 'tow_invoice', {
      violation_reference_id: `V-${ref.slice(3)}`,
      towing_reference_id: ref,
      towing_invoice: {
        invoice_number: 'INV-1',
        vat_number: '300000000000003',
        total_amount: total,
        paid_amount: 0,
        tax: '45.00',
      },
      delay_invoice: { total_amount: 100, paid_amount: 0, tax: 13.04 },
    });

  test('shows both invoice charges with their sum, every version and the tax invoice notice', async () => {
    const ref = await towAfter(app, 'started', 'detained');
    await posted(ref, 345);
    await posted(ref, 346.5);
    const text = textIn((await visitor.get(pagePath(ref))).html, 'invoice');
    expect(text).toContain('Total SAR 346.50 SAR 100.00 SAR 446.50');
    expect(text).toContain('Tax SAR 45.00 SAR 13.04 SAR 58.04');
    expect(text).toContain('INV-1');
    expect(text).toContain('1 older version');
    expect(text).toContain('Total SAR 345.00');
    expect(text).toContain('Only one of answer and webhook has arrived');
    expect(text).toContain('The service issues the tax invoice. This is not a tax invoice.');
  });

  test('shows an invoice without readable amounts', async () => {
    const ref = await towAfter(app, 'started');
    await deliver(app, 'tow_invoice', {
      violation_reference_id: 'V',
      towing_reference_id: ref,
      towing_invoice: { tax: '1' },
    });
    expect(textIn((await visitor.get(pagePath(ref))).html, 'invoice')).toContain('Total – – –');
  });
});
