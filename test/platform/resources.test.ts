import type { Log, LogFields } from '../../src/platform/log/log';
import { createResources } from '../../src/platform/resources';

/** A log that keeps its errors for the test. */
function keptErrors(): { log: Log; errors: { event: string; fields: LogFields }[] } {
  const errors: { event: string; fields: LogFields }[] = [];
  const nothing = () => {};
  const log: Log = {
    debug: nothing,
    info: nothing,
    warn: nothing,
    error: (event, fields = {}) => errors.push({ event, fields }),
    with: () => log,
  };
  return { log, errors };
}

describe('resources', () => {
  test('resources close one after another in reverse order of opening', async () => {
    const steps: string[] = [];
    const resources = createResources(keptErrors().log);
    for (const name of ['redis', 'queue', 'server']) {
      resources.add(name, name, async (opened) => {
        steps.push(`closing ${opened}`);
        await new Promise(setImmediate);
        steps.push(`closed ${opened}`);
      });
    }
    await resources.closeAll();

    expect(steps).toEqual([
      'closing server',
      'closed server',
      'closing queue',
      'closed queue',
      'closing redis',
      'closed redis',
    ]);
  });

  test('adding a resource returns it', () => {
    const opened = { connection: 1 };

    expect(createResources(keptErrors().log).add('redis', opened, () => {})).toBe(opened);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('cannot close');
      },
    ],
    ['rejects', () => Promise.reject(new Error('cannot close'))],
  ])('resources all close when one %s, and its failure is logged with its name', async (_how, close) => {
    const closed: string[] = [];
    const { log, errors } = keptErrors();
    const resources = createResources(log);
    resources.add('first', 1, () => void closed.push('first'));
    resources.add('broken', 2, close);
    resources.add('last', 3, () => void closed.push('last'));
    await resources.closeAll();

    expect(closed).toEqual(['last', 'first']);
    expect(errors).toMatchObject([{ event: 'close.failed', fields: { resource: 'broken', error: 'cannot close' } }]);
  });

  test('resources close once when closing is requested several times', async () => {
    let closings = 0;
    const resources = createResources(keptErrors().log);
    resources.add('redis', 1, () => void (closings += 1));
    await Promise.all([resources.closeAll(), resources.closeAll()]);
    await resources.closeAll();

    expect(closings).toBe(1);
  });

  test('resources opened while others close are closed too', async () => {
    const closed: string[] = [];
    const resources = createResources(keptErrors().log);
    resources.add('outer', 1, () => {
      resources.add('late', 2, () => void closed.push('late'));
      closed.push('outer');
    });
    await resources.closeAll();

    expect(closed).toEqual(['outer', 'late']);
  });

  test('resources that failed to open are not closed', async () => {
    await expect(createResources(keptErrors().log).closeAll()).resolves.toBeUndefined();
  });
});
