import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { PROJECT } from '../support/project';

test('this version of Node knows the settings of the heap', () => {
  const heap = join(PROJECT, 'src/platform/heap.ts');
  const program = `require(${JSON.stringify(heap)}).letHeapGrow()`;
  const { status, stderr } = spawnSync(process.execPath, ['--require', 'tsx/cjs', '--eval', program], {
    encoding: 'utf8',
  });
  // V8 writes what it does not know to stderr and goes on.
  expect([status, stderr]).toEqual([0, '']);
});
