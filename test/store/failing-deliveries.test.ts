import { deliveryKey, towKey } from '../../src/store/keys';
import { Script } from '../../src/store/scripts';
import { isTransient } from '../../src/store/redis/until-answered';
import { createDeferral } from '../../src/workflow/webhook/defer-delivery';
import { towRequest, useStores } from '../support/stores';

const stores = useStores();

const taskIds = async () => (await stores.generalTasks()).map(({ id }) => id);

/** The next commit with this text is written, and its reply is lost. */
function loseReplyTo(text: string): void {
  // It is called with its script below.
  // oxlint-disable-next-line typescript/unbound-method
  const run = Script.prototype.run;
  let isLost = false;
  jest.spyOn(Script.prototype, 'run').mockImplementation(async function (
    this: Script,
    ...args: Parameters<typeof run>
  ) {
    const reply = await run.apply(this, args);
    if (isLost || !JSON.stringify(args[2]).includes(text)) return reply;
    isLost = true;
    throw new Error('Connection is closed.');
  });
}

/** Commits with this text fail before they are written. */
function failCommitsWith(text: string, message: string): void {
  // It is called with its script below.
  // oxlint-disable-next-line typescript/unbound-method
  const run = Script.prototype.run;
  jest.spyOn(Script.prototype, 'run').mockImplementation(function (this: Script, ...args: Parameters<typeof run>) {
    if (JSON.stringify(args[2]).includes(text)) throw new Error(message);
    return run.apply(this, args);
  });
}

describe('the task about a delivery that keeps failing', () => {
  beforeEach(async () => {
    await stores.request('T1');
    await stores.accept('tow_request', towRequest('T1'), 'd1');
  });
  afterEach(() => jest.restoreAllMocks());

  test('is opened once, on its tow, when the reply to its commit is lost', async () => {
    await stores.redis.hset(deliveryKey('d1'), 'failures', 9);
    const defer = createDeferral(stores.records, { retryBaseMs: 1000, retryCapMs: 5000 }, isTransient);
    loseReplyTo('delivery_failing');

    await expect(defer('d1')).rejects.toThrow('Connection is closed.');

    expect(await taskIds()).toEqual(['delivery_failing-d1.T1']);
  });

  test('is opened by the commit that counts the failure, so that neither is there without the other', async () => {
    await stores.redis.hset(deliveryKey('d1'), 'failures', 9);
    const defer = createDeferral(stores.records, { retryBaseMs: 1000, retryCapMs: 5000 }, isTransient);
    failCommitsWith('delivery_failing', 'the worker dies here');

    await expect(defer('d1')).rejects.toThrow('the worker dies here');

    expect([await taskIds(), await stores.redis.hget(deliveryKey('d1'), 'failures')]).toEqual([[], '9']);
  });

  test('is opened without its tow when that cannot be written, and the failure is counted', async () => {
    for (let failure = 1; failure <= 9; failure += 1) await stores.fail('d1');
    failCommitsWith('delivery_failing-d1.T1', 'this version writes the tow wrongly');

    expect(await stores.fail('d1')).toBe('deferred');

    expect([await taskIds(), await stores.redis.hget(deliveryKey('d1'), 'failures')]).toEqual([
      ['delivery_failing-d1'],
      '10',
    ]);
    jest.restoreAllMocks();
    expect(await stores.process('d1')).not.toBe('deferred');
    expect(await taskIds()).toEqual([]);
  });

  test('closes when the delivery is parked, and its failures are counted from zero', async () => {
    await stores.acceptInvoice('T2', 'd2');
    for (let failure = 1; failure <= 10; failure += 1) await stores.fail('d2');
    expect(await taskIds()).toEqual(['delivery_failing-d2.T2']);

    expect(await stores.process('d2')).toBe('parked');

    expect(await taskIds()).toEqual([]);
    for (let failure = 1; failure <= 9; failure += 1) await stores.fail('d2');
    expect(await taskIds()).toEqual([]);
    await stores.fail('d2');
    expect(await taskIds()).toEqual(['delivery_failing-d2.T2']);
  });

  test.each([
    ['is damaged', (key: string) => stores.redis.hset(key, 'head', 'damaged')],
    [
      'lacks its data key',
      (key: string) => stores.redis.hset(key, 'later', 'aes:1:lost:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'),
    ],
    ['has a key of another type', (key: string) => stores.redis.del(key).then(() => stores.redis.set(key, 'text'))],
  ])('belongs to no record while its tow %s', async (_what, damage) => {
    await damage(towKey('T1'));

    for (let failure = 1; failure <= 10; failure += 1) expect(await stores.fail('d1')).toBe('deferred');

    expect(await taskIds()).toEqual(['delivery_failing-d1']);
  });
});
