import { auditView } from '../../src/contracts/audit';
import { page } from '../../src/contracts/paging';
import type { App } from '../support/app';
import { api } from './client';

type Console = Pick<App, 'consoleUrl' | 'apiKey'>;

/** Reads a page of the audit. */
export async function audited(app: Console, query: Readonly<Record<string, string>> = {}) {
  return page(auditView).parse((await api(app).get('/api/audit').query(query)).body);
}

/**
 * The audit entries that `acts` added, newest first. Asserts that their seqs follow each other and that their timestamps
 * lie within the time of `acts`, and leaves both out.
 */
export async function entriesOf(app: Console, acts: () => Promise<unknown>) {
  const before = (await audited(app)).items[0]?.seq ?? 0;
  const earliestMs = Date.now();
  await acts();
  const latestMs = Date.now();
  const fresh = (await audited(app)).items.filter(({ seq }) => seq > before);
  expect(fresh.map(({ seq }) => seq).toReversed()).toEqual(fresh.map((_entry, index) => before + index + 1));
  return fresh.map(({ seq: _seq, at, ...entry }) => {
    expect(Date.parse(at)).toBeGreaterThanOrEqual(earliestMs);
    expect(Date.parse(at)).toBeLessThanOrEqual(latestMs);
    return entry;
  });
}
