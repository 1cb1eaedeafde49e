import { parse } from 'csv-parse/sync';
import { z } from 'zod';
import { markShadow } from '../../src/domain/shadow';
import { towAfter } from '../operator/world';
import { useApp } from '../support/app';
import { changeInStore } from '../support/stores';
import { run } from './command';

const app = useApp({ role: 'console' });

const rows = z.array(z.object({ id: z.string(), operation: z.string(), images: z.string() }));

test('towhook shadow export prints a CSV file with one row for each held call', async () => {
  const refs = [await towAfter(app, 'started'), await towAfter(app, 'started')];
  for (const ref of refs) await changeInStore(app.foundation.redis, ref, markShadow);

  const { out, exitCode } = await run(['shadow', 'export'], { url: app.consoleUrl, apiKey: app.apiKey });

  expect(exitCode).toBe(0);
  expect(rows.parse(parse(out, { columns: true }))).toEqual(
    refs.map((id) => ({ id, operation: 'started', images: '' })),
  );
});
