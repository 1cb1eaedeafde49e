import { restoreProcess, stateOfProcess } from './changed-process';

declare global {
  var addedByTest: number | undefined;
}

test('what a test file adds, replaces or removes among globals and environment variables is undone at its end', () => {
  process.env['REMOVED_BY_TEST'] = 'before';
  const { fetch } = globalThis;
  const before = stateOfProcess();

  globalThis.addedByTest = 1;
  Reflect.set(globalThis, 'fetch', () => {});
  Reflect.deleteProperty(globalThis, 'structuredClone');
  delete process.env['REMOVED_BY_TEST'];
  process.env['ADDED_BY_TEST'] = 'after';
  restoreProcess(before);

  expect('addedByTest' in globalThis).toBe(false);
  expect(globalThis.fetch).toBe(fetch);
  expect(structuredClone([1])).toEqual([1]);
  expect(process.env['REMOVED_BY_TEST']).toBe('before');
  expect(process.env['ADDED_BY_TEST']).toBeUndefined();
});
