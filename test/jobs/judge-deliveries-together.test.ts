import { judgeDeliveries } from '../../jobs/judge-deliveries';
import { judgementJobId } from '../../src/contracts/jobs';
import { WEBHOOK_READERS } from '../../src/contracts/read-webhook';
import { advanceJudgement } from '../../src/workflow/judge-again';
import type { JudgementStore } from '../../src/workflow/judgement-port';
import { useRedis } from '../support/redis';
import { openStores, type Stores } from '../support/stores';
import { judgementSteps, WIDER } from './judgement-steps';

/** Workers that are lost while they judge deliveries again, and workers that judge them at the same time. */

const redis = useRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => stores.close());

const { judgements, tools, kind, start, judge, accept } = judgementSteps(() => stores);

test('a run that lost its worker in between is continued by the next one, and nothing is acted on twice', async () => {
  for (let at = 0; at < 25; at += 1) await accept(`T${at}`);
  await start();
  const dying = {
    ...tools(WIDER),
    judgements: { ...judgements(), change: () => Promise.reject(new Error('killed')) },
  };
  await expect(judgeDeliveries((await kind()).id, dying)).rejects.toThrow('killed');
  expect(await judgements().waiting((await kind()).id)).toBe(5);

  // Two workers continue it at the same time.
  const { id } = await kind();
  await Promise.all([1, 2].map(() => judgeDeliveries(id, tools(WIDER))));

  expect(await judgements().read(id)).toMatchObject({ total: 25, remaining: 0 });
  for (let at = 0; at < 25; at += 1) {
    expect((await stores.read(`T${at}`)).timeline.map(({ type }) => type)).toEqual(['tow.requested']);
  }
});

test('a worker that another one has overtaken records nothing and ends', async () => {
  for (let at = 0; at < 25; at += 1) await accept(`T${at}`);
  await start();
  const { id } = await kind();
  const store = judgements();
  const slice = await store.next(id, 20);
  if (!slice) throw new Error('no run');
  let overtaking: Promise<boolean> | undefined;
  // Another worker judges the same slice, and is done with it first.
  const change: JudgementStore['change'] = async (...args) => {
    overtaking ??= advanceJudgement(tools(WIDER), id, slice);
    expect(await overtaking).toBe(true);
    return store.change(...args);
  };

  const slow = await judgeDeliveries(id, { ...tools(WIDER), judgements: { ...store, change } });

  expect(slow).toEqual({ kind: 'done', what: 'judged' });
  expect(await store.read(id)).toMatchObject({ endedAtMs: null, remaining: 5 });
  expect(await judge(WIDER)).toMatchObject({ total: 25, remaining: 0 });
});

test('a worker that wakes after the next run has started does not end that run', async () => {
  await accept('T1');
  await start();
  const { id } = await kind();
  const slice = await judgements().next(id, 20);
  if (!slice) throw new Error('no run');
  await judge(WEBHOOK_READERS);
  expect(await start()).toBe('done');

  expect(await advanceJudgement(tools(WIDER), id, slice)).toBe(false);

  expect(await judgements().read(id)).toMatchObject({ endedAtMs: null, remaining: 1 });
});

test('the next run keeps its schedule when a leftover job of the last run looks at it', async () => {
  await accept('T1');
  const { id } = await kind();
  await start();
  await judge(WEBHOOK_READERS);
  const readOver = jest.spyOn(stores.redis, 'hmget');
  readOver.mockImplementationOnce(async (...args) => {
    const over = await stores.redis.hmget(...args);
    expect(await start()).toBe('done');
    return over;
  });

  expect(await judgements().next(id, 10)).toBeNull();

  expect(await stores.schedules.bulk.pollDue(10, 1000)).toEqual([judgementJobId(id)]);
  readOver.mockRestore();
});
