import { refusedTask } from '../../src/domain/outbox/escalate-entry';
import { createTaskStore } from '../../src/store/ops/tasks';
import { standings, walk } from '../support/conservation';
import { eventually } from '../support/eventually';
import { refusedWith } from '../support/exchanges';
import { endLease } from '../support/stored-records';
import { ACCEPTED, mustClaim, result, START, useStores } from '../support/stores';

// A lease ends only where a test ends it.
const stores = useStores({ leaseMs: 60_000 });
const redis = stores.server;

const found = () => standings(stores.redis);

/** A tow that owes the start, the detention and the release. */
async function towWithThree(ref = 'T1'): Promise<void> {
  await stores.request(ref);
  await stores.say(ref, START);
  await stores.say(ref, { event: 'detained' });
  await stores.say(ref, { event: 'released' });
}

describe('conservation scan of lost reports', () => {
  const TOW = '{towhook-main}:tow:T1';

  test.each([
    { what: 'a missing tow, once', command: ['DEL', TOW], expected: { lost: 1 }, names: ['tow T1'] },
    {
      what: 'a tow key of another type, once',
      command: ['SET', TOW, 'foreign'],
      expected: { lost: 1 },
      names: ['tow T1'],
    },
    { what: 'a tow without its head, once', command: ['HDEL', TOW, 'head'], expected: { lost: 1 }, names: ['tow T1'] },
    {
      what: 'all missing reports of a tow, one per fact',
      command: ['HDEL', TOW, 'r1', 'r2', 'r3'],
      expected: { lost: 3 },
      names: ['report T1 1', 'report T1 2', 'report T1 3'],
    },
    {
      what: 'a missing first report',
      command: ['HDEL', TOW, 'r1'],
      expected: { waiting: 2, lost: 1 },
      names: ['report T1 1'],
    },
    {
      what: 'a missing report between two others',
      command: ['HDEL', TOW, 'r2'],
      expected: { waiting: 2, lost: 1 },
      names: ['report T1 2'],
    },
    {
      what: 'a missing last report',
      command: ['HDEL', TOW, 'r3'],
      expected: { waiting: 2, lost: 1 },
      names: ['report T1 3'],
    },
    {
      what: 'all reports of a tow with one unreadable report, because no worker can read the tow',
      command: ['HSET', TOW, 'r2', '{"seq":2,"state":"somewhere"}'],
      expected: { lost: 3 },
      names: ['report T1 1', 'report T1 2', 'report T1 3'],
    },
  ])('the conservation scan of reports finds a lost record: $what', async ({ command, expected, names }) => {
    await towWithThree();
    await redis.ask(...command);

    expect((await found()).reports).toEqual(expected);
    const { reports, lostNames } = await walk(stores.redis);
    expect(reports).toMatchObject({ ...expected, repaired: 0 });
    expect(lostNames.filter((name) => !name.startsWith('delivery'))).toEqual(names);
  });

  test('the conservation scan reports an accepted report without a tow as lost', async () => {
    await towWithThree();
    await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));
    expect((await found()).reports).toEqual({ finished: 1, waiting: 2 });
    await redis.ask('DEL', TOW);

    expect((await found()).reports).toEqual({ lost: 1 });
  });

  test('the conservation scan schedules an outbox without a schedule entry, and its later reports wait again', async () => {
    await towWithThree();
    await stores.redis.zrem('{towhook-main}:due:tows', 'T1');

    expect((await found()).reports).toEqual({ waiting: 2, lost: 1, repaired: 1 });

    expect((await found()).reports).toEqual({ waiting: 3 });
    expect(await stores.schedules.reports.pollDue(10, 1000)).toEqual(['T1']);
    expect(await mustClaim(stores.outbox, 'T1')).toMatchObject({ entry: { kind: 'started' } });
  });

  test('the conservation scan schedules an outbox with a lost worker and no schedule entry after its lease', async () => {
    await towWithThree();
    await mustClaim(stores.outbox, 'T1');
    await stores.redis.zrem('{towhook-main}:due:tows', 'T1');
    expect((await found()).reports).toEqual({ waiting: 3 });
    await endLease(stores.redis, TOW);

    const walks = await eventually(async () => {
      const now = (await found()).reports;
      expect(now).not.toEqual({ waiting: 3 });
      return now;
    });

    expect(walks).toEqual({ waiting: 2, lost: 1, repaired: 1 });
  });

  test('the conservation scan reports an escalated report without an open task as lost', async () => {
    await towWithThree();
    const claimed = await mustClaim(stores.outbox, 'T1');
    const task = refusedTask({ id: 'started-1', kind: 'started', httpStatus: 400, message: 'no', hint: null });
    await stores.outbox.settle(
      claimed,
      result({ next: 'refused', hint: null }, { exchange: refusedWith(400, 'no'), task }),
    );
    expect((await found()).reports).toEqual({ with_a_person: 1, waiting: 2 });
    await stores.redis.hset('{towhook-main}:tow:T1', 'v', '9.test');
    await stores.redis.hdel('{towhook-main}:tow:T1', 'tasks');

    expect((await found()).reports).toEqual({ lost: 3 });
    expect(await stores.dueAt('T1')).toBeNull();
  });

  test.each([
    ['tasks', 'HDEL', '{towhook-main}:tasks', 'started-1.T1'],
    ['open tasks', 'ZREM', '{towhook-main}:index:tasks', 'started-1.T1'],
  ])('the conservation scan lists a task again when it is missing from the %s', async (_what, ...command) => {
    await towWithThree();
    const claimed = await mustClaim(stores.outbox, 'T1');
    const task = refusedTask({ id: 'started-1', kind: 'started', httpStatus: 400, message: 'no', hint: null });
    await stores.outbox.settle(
      claimed,
      result({ next: 'refused', hint: null }, { exchange: refusedWith(400, 'no'), task }),
    );
    const tasks = createTaskStore(stores.redis);
    const before = await tasks.read('started-1.T1');
    await redis.ask(...command);

    expect((await found()).reports).toEqual({ waiting: 2, lost: 1, repaired: 1 });

    expect((await found()).reports).toEqual({ with_a_person: 1, waiting: 2 });
    expect(await tasks.read('started-1.T1')).toEqual(before);
    expect(await tasks.counts()).toMatchObject({ total: 1, types: [{ type: 'report_refused', count: 1 }] });
  });

  test('the conservation scan lists the names of lost records', async () => {
    await towWithThree('TW-20261120-9F4D1A');
    await redis.ask('DEL', '{towhook-main}:tow:TW-20261120-9F4D1A');

    expect((await walk(stores.redis)).lostNames).toEqual([
      'delivery request-TW-20261120-9F4D1A',
      'tow TW-20261120-9F4D1A',
    ]);
  });
});
