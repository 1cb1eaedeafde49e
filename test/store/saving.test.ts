import { addEvent } from '../../src/domain/outbox/outbox-record';
import { decideReport } from '../../src/workflow/outbox/decide';
import { recordFact } from '../../src/workflow/tow/record-fact';
import { eventually } from '../support/eventually';
import { ACCEPTED, mustClaim, result, START, useStores } from '../support/stores';

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
