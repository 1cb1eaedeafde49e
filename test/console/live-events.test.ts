import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVENT_TYPES } from '../../src/contracts/outbox/records';
import { PROJECT } from '../support/project';

const SCRIPT = join(PROJECT, 'src/console/assets/scripts/stream.js');
const DOCUMENT = join(PROJECT, 'docs/operator-api.md');

test('live pages listen for every type of event that the store publishes, and for missed events', () => {
  const [, listed = ''] = /^const EVENT_TYPES = \[([^\]]*)\];$/m.exec(readFileSync(SCRIPT, 'utf8')) ?? [];
  const heard = [...listed.matchAll(/'([^']+)'/g)].map(([, type]) => type);

  expect(heard).toHaveLength(EVENT_TYPES.length + 1);
  expect(new Set(heard)).toEqual(new Set(['events.missed', ...EVENT_TYPES]));
});

test('the page about the operator API names every type of event', () => {
  const [, section = ''] = readFileSync(DOCUMENT, 'utf8').split('\n## Events\n');
  const named = new Set([...section.matchAll(/`([a-z]+\.[a-z]+)`/g)].map(([, type]) => type));

  expect(EVENT_TYPES.filter((type) => !named.has(type))).toEqual([]);
});
