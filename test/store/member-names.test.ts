import { releaseClosedCircuits } from '../../src/store/service/circuits';
import { createWithheldStore } from '../../src/store/outbox/withheld';
import { withhold } from '../../src/domain/outbox/withheld';
import { setCircuit } from '../support/stored-records';
import { mustClaim, START, useStores } from '../support/stores';

/** References have a free format. These look like the names that lists of tows and violations use. */
const REFERENCES = ['violation 17', 'tow 17', 'tow violation 17'];

const stores = useStores({ leaseMs: 20_000 });

describe.each(REFERENCES)('the tow %s', (ref) => {
  beforeEach(() => stores.request(ref));

  test('is due when the circuit that blocked it has closed', async () => {
    await stores.say(ref, START);
    await setCircuit(stores.redis, 'paused.started', { untilMs: Date.now() + 300_000 });
    // Enough others that it is not one of those that look at the circuit by themselves.
    const others = ['T1', 'T2', 'T3', 'T4', 'T5'];
    for (const other of others) {
      await stores.request(other);
      await stores.say(other, START);
    }
    for (const each of [...others, ref]) expect((await stores.outbox.claim(each)).kind).toBe('wait');

    expect(await stores.resume('started')).toBe('done');
    await releaseClosedCircuits(stores.redis);

    expect(await stores.schedules.reports.pollDue(10, 1000)).toContain(ref);
    expect((await mustClaim(stores.outbox, ref)).entry.kind).toBe('started');
  });

  test('is listed while it is held since a shadow time', async () => {
    await stores.say(ref, START);
    await stores.change(ref, withhold);

    const { items } = await createWithheldStore(stores.redis).list({ cursor: null, limit: 10 });

    expect(items).toMatchObject([{ kind: 'tow', tow: { towingReferenceId: ref } }]);
  });
});
