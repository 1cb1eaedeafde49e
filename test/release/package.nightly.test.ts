import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { PROJECT } from '../support/project';

jest.setTimeout(300_000);
const run = promisify(execFile);
const packed = z.array(z.object({ filename: z.string() })).length(1);

test('npx towhook demo of the packed package passes in an empty folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'towhook-package-'));
  try {
    const { stdout } = await run('npm', ['pack', '--json', '--silent', '--pack-destination', folder], { cwd: PROJECT });
    const [{ filename } = { filename: '' }] = packed.parse(JSON.parse(stdout));
    await writeFile(join(folder, 'package.json'), '{"private":true}');
    await run('npm', ['install', '--no-audit', '--no-fund', join(folder, filename)], { cwd: folder });

    const demo = await run('npx', ['towhook', 'demo', '--exit', '--tows', '3'], { cwd: folder });
    expect(demo.stdout).toContain('PASSED: every report arrived');
    const version = await run('npx', ['towhook', '--version'], { cwd: folder });
    expect(`towhook-${version.stdout.trim()}.tgz`).toBe(filename);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
