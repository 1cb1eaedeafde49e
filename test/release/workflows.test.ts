import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { PROJECT } from '../support/project';

const FOLDER = join(PROJECT, '.github', 'workflows');
const step = z.looseObject({
  uses: z.string().optional(),
  run: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
});
const workflowContract = z.looseObject({
  name: z.string(),
  permissions: z.object({ contents: z.literal('read') }),
  jobs: z.record(
    z.string(),
    z.looseObject({
      'timeout-minutes': z.number(),
      permissions: z.record(z.string(), z.string()).optional(),
      steps: z.array(step),
    }),
  ),
});
const workflows = readdirSync(FOLDER).map((file) => ({
  file,
  ...workflowContract.parse(parse(readFileSync(join(FOLDER, file), 'utf8'))),
}));
const steps = workflows.flatMap(({ file, jobs }) =>
  Object.values(jobs).flatMap((job) => job.steps.map((step) => ({ file, ...step }))),
);
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')));

test('every workflow reads only by default and ends by itself', () => {
  expect(workflows.map(({ file }) => file).toSorted()).toEqual([
    'chart.yml',
    'image.yml',
    'nightly.yml',
    'release.yml',
    'verify.yml',
  ]);
});

test('every npm script of a workflow exists', () => {
  const named = steps.flatMap(({ file, run = '' }) =>
    [...run.matchAll(/npm (?:run )?([a-z]+(?::[a-z]+)*)/g)].map(([, script = '']) => ({ file, script })),
  );
  const ofNpm = ['ci', 'audit', 'publish', 'sbom'];
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter(({ script }) => !ofNpm.includes(script) && !(script in scripts))).toEqual([]);
});

test('every action of a workflow is pinned to a commit, and no clone keeps the token of its job', () => {
  const actions = steps.filter(({ uses }) => uses !== undefined);
  expect(actions.length).toBeGreaterThan(10);
  expect(actions.filter(({ uses = '' }) => !/@[0-9a-f]{40}$/.test(uses))).toEqual([]);
  const clones = actions.filter(({ uses = '' }) => uses.startsWith('actions/checkout@'));
  expect(clones.filter((step) => step.with?.['persist-credentials'] !== false)).toEqual([]);
});

test('only a job that installs no package may write to the repository', () => {
  const writing = workflows.flatMap(({ jobs }) =>
    Object.values(jobs).filter(({ permissions }) => permissions?.['contents'] === 'write'),
  );
  expect(writing).toHaveLength(1);
  const commands = writing.flatMap((job) => job.steps.map(({ run = '' }) => run)).join('\n');
  expect(commands).toContain('gh release create');
  expect(commands).not.toMatch(/npm (?:ci|install|run|publish)/);
});
