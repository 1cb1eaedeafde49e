import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';
import { PROJECT } from '../support/project';

const listing = z.array(z.object({ files: z.array(z.object({ path: z.string() })) })).length(1);

test('the package holds the compiled program and its documents, and no sources, tests or pictures', async () => {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: PROJECT,
  });
  const paths = listing.parse(JSON.parse(stdout)).flatMap(({ files }) => files.map(({ path }) => path));
  expect(paths).toEqual(
    expect.arrayContaining(['package.json', 'openapi.json', 'README.md', 'LICENSE', 'CHANGELOG.md']),
  );
  const strange = paths.filter((path) => /^(?:test|bench|tools|jobs|src|\.)|\.png$/.test(path));
  expect(strange).toEqual([]);
});
