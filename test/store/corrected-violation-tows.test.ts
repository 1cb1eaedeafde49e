import { towKey } from '../../src/store/keys';
import { refusedWith } from '../support/exchanges';
import type { ViolationOutbox } from '../support/outboxes';
import { START, useStores } from '../support/stores';
import { decide, link, mustClaimViolation, openOutbox, outcome, reportViolations } from '../support/violations';

const stores = useStores();
let outbox: ViolationOutbox;
beforeEach(() => {
  outbox = openOutbox(stores);
});

/** A violation that the service refused, with tows linked to it by hand. */
async function refusedWithTows(...refs: string[]): Promise<void> {
  await reportViolations(stores, 'U1');
  await outbox.settle(
    await mustClaimViolation(outbox, 'U1'),
    outcome({ next: 'refused', hint: null }, { exchange: refusedWith(400) }),
  );
  for (const ref of refs) {
    await stores.request(ref);
    expect(await link(stores, 'U1', ref)).toBe('done');
  }
}
const correct = () => decide(stores, 'U1', { action: 'correct', fields: { plateNumber: 'RIGHT 1' } });

test('a corrected violation corrects the tows that are linked to it and not started', async () => {
  await refusedWithTows('T1', 'T2');
  await stores.say('T2', { ...START, plateNumber: 'SEEN 2' });

  expect(await correct()).toBe('saved');

  expect((await stores.read('T1')).tow.plateNumber).toBe('RIGHT 1');
  expect((await stores.read('T2')).tow.plateNumber).toBe('SEEN 2');
  await stores.say('T1', { event: 'started' });
  expect((await stores.read('T1')).reports[0]?.body).toMatchObject({ plate_number: 'RIGHT 1' });
});

test('a violation can be corrected although a tow of it is damaged, and one was linked to another violation', async () => {
  await refusedWithTows('T1', 'T2');
  await reportViolations(stores, 'U2');
  expect(await link(stores, 'U2', 'T2')).toBe('done');
  const plateNumber = (await stores.read('T2')).tow.plateNumber;
  await stores.redis.hset(towKey('T1'), 'head', '{"state":');

  expect(await correct()).toBe('saved');

  expect((await stores.read('T2')).tow.plateNumber).toBe(plateNumber);
});
