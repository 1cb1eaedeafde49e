import { LAYERS } from './layers';
import { brokenImports } from './imports';
import { readSources } from './sources';
import { environmentUses } from './environment';

/** A file holds one idea, typically 60 to 250 lines. */
const LINES_MAX = 400;
/**
 * Of all scripts together, without comments and blank lines. Scripts hold what must be atomic inside Redis; rules are
 * decided in TypeScript (docs/contributing/decisions.md).
 */
const LUA_LINES_MAX = 600;
const sources = readSources(['src', 'jobs'], ['.ts', '.tsx']);

describe('the architecture', () => {
  test('the architecture test finds source files', () => {
    expect(sources.length).toBeGreaterThan(20);
  });

  test('source files import only from lower layers', () => {
    expect(brokenImports(sources, LAYERS)).toEqual([]);
  });

  test('source files take time, randomness, environment and console only from src/platform', () => {
    expect(environmentUses(sources.filter(({ path }) => !path.startsWith('src/platform/')))).toEqual([]);
  });

  test(`no source file is longer than ${LINES_MAX} lines`, () => {
    const all = readSources(['src', 'jobs', 'test', 'bench'], ['.ts', '.tsx', '.lua', '.js', '.css']);
    const long = all.filter(({ text }) => text.trimEnd().split('\n').length > LINES_MAX);
    expect(long.map(({ path }) => `${path}: split it by verb`)).toEqual([]);
  });

  test(`all Lua scripts together hold at most ${LUA_LINES_MAX} lines without comments and blank lines`, () => {
    const lines = readSources(['src', 'jobs'], ['.lua']).flatMap(({ text }) => text.split('\n'));
    const code = lines.filter((line) => !/^\s*(--.*)?$/.test(line));
    expect(code.length).toBeGreaterThan(100);
    expect(code.length).toBeLessThanOrEqual(LUA_LINES_MAX);
  });

  test('the layer rules name only folders that exist', () => {
    const known = Object.keys(LAYERS);
    for (const { folders } of Object.values(LAYERS)) expect(known).toEqual(expect.arrayContaining([...folders]));
  });
});

describe('the import rules', () => {
  const check = (path: string, text: string) => brokenImports([{ path, text }], LAYERS);

  test.each([
    ['src/contracts/a.ts', "import { b } from '../domain/b';"],
    ['src/domain/a.ts', "import { b } from './b'; export * from './tow/c';"],
    ['src/operator/a.ts', "import type { Queue } from 'bullmq'; import { type Job } from 'bullmq';"],
    ['src/operator/a.ts', "import { createBullBoard } from '@bull-board/api/dist/index';"],
    ['jobs/a.ts', "import { b } from '../src/workflow/b';"],
    ['src/main/a.ts', "import { b } from '../../jobs/b'; import { c } from 'node:fs';"],
  ])('the import rules allow in %s: %s', (path, text) => {
    expect(check(path, text)).toEqual([]);
  });

  test.each([
    ['src/domain/a.ts', "import axios from 'axios';"],
    ['src/domain/a.ts', "import { hash } from 'node:crypto';"],
    ['src/domain/a.ts', "import type { Log } from '../platform/log';"],
    ['src/contracts/a.ts', "export * from '../platform/log';"],
    ['src/workflow/a.ts', "import { b } from '../../jobs/b';"],
    ['src/store/a.ts', "export { b } from '../queue/b';"],
    ['src/operator/a.ts', "import { Queue } from 'bullmq';"],
    ['src/operator/a.ts', "import { type Job, Queue } from 'bullmq';"],
    ['src/simulator/a.ts', "type Tow = import('../domain/tow').Tow;"],
    ['src/simulator/a.ts', "const tow = require('../domain/tow');"],
    ['src/receiver/a.ts', "const b = await import('../store/b');"],
    ['src/receiver/a.ts', "import express = require('express5');"],
    ['src/service/a.ts', "import { readFileSync } from 'fs';"],
    ['jobs/a.ts', "import { b } from '../test/b';"],
    ['src/stuff/a.ts', ''],
  ])('the import rules forbid in %s: %s', (path, text) => {
    expect(check(path, text)).toHaveLength(1);
  });

  test('a broken import rule is reported with its reason', () => {
    expect(check('src/domain/a.ts', "import axios from 'axios';")).toEqual([
      'src/domain/a.ts: "domain" must not import "axios": ' +
        'the rules of towing are pure: no clock, no library but the one that describes the shapes of records',
    ]);
  });
});

describe('the environment rules', () => {
  const check = (text: string) => environmentUses([{ path: 'src/domain/a.ts', text }]);

  test.each(['new Date(1)', 'Date.parse(text)', 'Math.max(1, 2)', 'clock.now()', 'process.pid', 'setTimeout(go, 1)'])(
    'the environment rules allow: %s',
    (text) => {
      expect(check(text)).toEqual([]);
    },
  );

  test.each([
    "console.log('here')",
    'process.env.HOME',
    "process['env']",
    'const { env } = process',
    "import { env } from 'node:process'",
    'const at = Date.now()',
    'const clock = Date.now',
    'new Date()',
    'new Date',
    'Date()',
    'Math.random()',
    'const { random } = Math',
    'globalThis.console',
  ])('the environment rules forbid: %s', (text) => {
    expect(check(text)).toHaveLength(1);
  });
});
