import type { Log, LogFields } from '../../src/platform/log';
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
  test('are closed in reverse order, each only after the one opened later has closed', async () => {
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

  test('are handed back as they were opened', () => {
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
  ])('are all closed when one %s, and the failure is logged by name', async (_how, close) => {
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

  test('are closed once, however often it is asked for', async () => {
    let closings = 0;
    const resources = createResources(keptErrors().log);
    resources.add('redis', 1, () => void (closings += 1));
    await Promise.all([resources.closeAll(), resources.closeAll()]);
    await resources.closeAll();

    expect(closings).toBe(1);
  });

  test('that open while others close are closed too', async () => {
    const closed: string[] = [];
    const resources = createResources(keptErrors().log);
    resources.add('outer', 1, () => {
      resources.add('late', 2, () => void closed.push('late'));
      closed.push('outer');
    });
    await resources.closeAll();

    expect(closed).toEqual(['outer', 'late']);
  });

  test('that never opened are nothing to close', async () => {
    await expect(createResources(keptErrors().log).closeAll()).resolves.toBeUndefined();
  });
});
