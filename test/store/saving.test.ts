import { addEvent } from '../../src/domain/outbox/outbox-record';
import { decideReport } from '../../src/workflow/outbox/decide';
import { recordFact } from '../../src/workflow/tow/record-fact';
import { eventually } from '../support/eventually';
import { ACCEPTED, INVOICE, mustClaim, result, START, useStores } from '../support/stores';

const stores = useStores();

const actor = { id: 'k1', name: 'tester', role: 'ops' } as const;
const tools = () => stores.progress;
const REFUSED = { next: 'refused', hint: null } as const;

test('a decision made on an older version never overwrites a newer one', async () => {
  await stores.request('T1');
  const states: (string | undefined)[] = [];

  await stores.records.transact('a line of its own', async (transaction) => {
    const draft = await transaction.tow('T1');
    states.push(draft.tow?.state);
    if (states.length === 1) await stores.say('T1', START);
    addEvent(draft, { type: 'played by a test' }, transaction.nowMs);
  });

  expect(states).toEqual(['requested', 'started']);
  expect((await stores.read('T1')).tow.state).toBe('started');
});

test('one of many identical decisions at the same time takes effect', async () => {
  await stores.request('T1');

  const effects = await Promise.all(
    Array.from({ length: 20 }, () => recordFact(tools(), { ref: 'T1', command: START, actor })),
  );

  expect(effects.filter(({ kind }) => kind === 'done')).toHaveLength(1);
  expect((await stores.read('T1')).reports).toHaveLength(1);
});

test('concurrent requests under one idempotency key take effect once', async () => {
  await stores.request('T1');
  const idempotency = { scope: 'scope', fingerprint: 'same' };
  const ask = () => recordFact(tools(), { ref: 'T1', command: START, actor, idempotency });

  const effects = await Promise.all([ask(), ask(), ask()]);

  expect(effects.filter(({ kind }) => kind === 'done')).toHaveLength(1);
  expect((await stores.read('T1')).tow.facts).toHaveLength(1);
});

test('a cancel withdraws the never attempted invoice and payment in the same commit', async () => {
  await stores.request('T1');
  await stores.say('T1', START);
  await stores.say('T1', INVOICE);
  await stores.say('T1', { event: 'payment' });

  await stores.say('T1', { event: 'canceled', cancellationReason: 'Owner came back' });

  expect(await stores.states('T1')).toEqual([
    'started pending',
    'invoice waived',
    'payment waived',
    'canceled pending',
  ]);
  await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));
  expect(await mustClaim(stores.outbox, 'T1')).toMatchObject({ entry: { kind: 'canceled' } });
});

test('an answer that arrives after a correction does not mark the corrected body as sent', async () => {
  await stores.request('T1');
  await stores.say('T1', START);
  const lost = await mustClaim(stores.outbox, 'T1');
  const mine = await eventually(() => mustClaim(stores.outbox, 'T1'));
  await stores.outbox.settle(mine, result(REFUSED));
  const command = { action: 'correct', fields: { plate_number: 'XYZ 99' } } as const;
  expect((await decideReport(tools(), { ref: 'T1', reportId: 'started-1', command, actor })).kind).toBe('done');

  expect(await stores.outbox.settle(lost, result(ACCEPTED))).toMatchObject({ kind: 'late' });

  expect(await stores.states('T1')).toEqual(['started pending']);
  const resent = await mustClaim(stores.outbox, 'T1');
  expect(resent.entry.body).toMatchObject({ plate_number: 'XYZ 99', towed_location: 'Olaya Street' });
  const record = await stores.read('T1');
  expect(record.tow.plateNumber).toBe('XYZ 99');
  expect(record.timeline.at(-1)).toMatchObject({
    type: 'report.corrected',
    fields: { plate_number: { old: 'ABC 1234', new: 'XYZ 99' } },
  });
});

test('a refused report opens a task that each decision closes', async () => {
  const decisions = [
    { action: 'retry' },
    { action: 'waive', reason: 'confirmed by phone' },
    { action: 'accept', reason: 'seen at the service' },
  ] as const;
  for (const [index, command] of decisions.entries()) {
    const ref = `T${index}`;
    await stores.request(ref);
    await stores.say(ref, START);
    const claim = await mustClaim(stores.outbox, ref);
    const task = { subject: claim.entry.id, type: 'report_refused' as const, message: 'no', actions: [] };
    await stores.outbox.settle(claim, result(REFUSED, { task }));
    expect((await stores.read(ref)).tasks).toHaveLength(1);
    expect(await stores.dueAt(ref)).toBeNull();

    await decideReport(tools(), { ref, reportId: claim.entry.id, command, actor });

    expect((await stores.read(ref)).tasks).toEqual([]);
  }
  expect(await stores.states('T0')).toEqual(['started pending']);
  expect(await stores.states('T1')).toEqual(['started waived']);
  expect(await stores.states('T2')).toEqual(['started accepted']);
});

test('a decision on a report in flight is refused', async () => {
  await stores.request('T1');
  await stores.say('T1', START);
  await mustClaim(stores.outbox, 'T1');

  const effect = await decideReport(tools(), { ref: 'T1', reportId: 'started-1', command: { action: 'retry' }, actor });

  expect(effect).toMatchObject({ kind: 'refused', refusal: { kind: 'conflict', code: 'report_in_flight' } });
});

test('a waived invoice waives its pending payment', async () => {
  await stores.request('T1');
  await stores.say('T1', START);
  await stores.say('T1', INVOICE);
  await stores.say('T1', { event: 'payment' });

  const command = { action: 'waive', reason: 'billed on paper' } as const;
  await decideReport(tools(), { ref: 'T1', reportId: 'invoice-2', command, actor });

  expect(await stores.states('T1')).toEqual(['started pending', 'invoice waived', 'payment waived']);
});
