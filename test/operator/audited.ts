import { auditView } from '../../src/contracts/audit';
import { page } from '../../src/contracts/paging';
import type { App } from '../support/app';
import { get } from './client';

type Console = Pick<App, 'consoleUrl' | 'apiKey'>;

/** A page of the audit. */
export async function audited(app: Console, query: Readonly<Record<string, string>> = {}) {
  return page(auditView).parse((await get(app, `/api/audit?${new URLSearchParams(query).toString()}`)).json);
}

/** What was done while `acts` ran, newest first, without its seq and moment, which must be right. */
export async function entriesOf(app: Console, acts: () => Promise<unknown>) {
  const before = (await audited(app)).items[0]?.seq ?? 0;
  const sinceMs = Date.now();
  await acts();
  const fresh = (await audited(app)).items.filter(({ seq }) => seq > before);
  expect(fresh.map(({ seq }) => seq).toReversed()).toEqual(fresh.map((_entry, index) => before + index + 1));
  return fresh.map(({ seq: _seq, at, ...entry }) => {
    expect(Math.abs(Date.parse(at) - sinceMs)).toBeLessThan(10_000);
    return entry;
  });
}
