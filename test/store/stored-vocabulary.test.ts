import { storedCircuits } from '../../src/domain/service/stored-circuits';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { auditEntry } from '../../src/contracts/ops/audit';
import { storedDifference } from '../../src/contracts/service/differences';
import { runDocument, runResult, runTargets } from '../../src/contracts/ops/runs';
import { processDocument } from '../../src/contracts/ops/metrics';
import { storedNotificationState } from '../../src/contracts/ops/notifications';
import { apiKeyRecord, sessionRecord } from '../../src/contracts/outbox/records';
import { storedDelivery } from '../../src/domain/webhook/delivery';
import { storedTexts } from '../../src/domain/stored';
import { towDocument, towMeta } from '../../src/domain/tow/tow';
import { storedCalls, storedMessages } from '../../src/contracts/service/seen-service';
import { storedEntry } from '../../src/domain/outbox/entry';
import { storedEvent, storedLease, storedLinks, storedRun, storedTasks } from '../../src/domain/outbox/outbox-record';
import { violationDocument } from '../../src/domain/violation/violation';
import { knownSchema } from '../../src/store/ops/schema';
import { PROJECT } from '../support/project';

/** Every stored record and field, with its types and values, in the form of the file beside this test. */
const RECORDS: Readonly<Record<string, z.ZodType>> = {
  tow: towDocument,
  'tow.meta': towMeta,
  violation: violationDocument,
  'violation.links': storedLinks,
  entry: storedEntry,
  event: storedEvent,
  lease: storedLease,
  run: storedRun,
  tasks: storedTasks,
  terms: storedTexts,
  delivery: storedDelivery,
  circuits: storedCircuits,
  difference: storedDifference,
  'run.document': runDocument,
  'run.items': runTargets,
  'run.result': runResult,
  'notifications.state': storedNotificationState,
  'api-key': apiKeyRecord,
  session: sessionRecord,
  audit: auditEntry,
  process: processDocument,
  'seen-service.calls': storedCalls,
  'seen-service.messages': storedMessages,
};

const FILE = join(PROJECT, 'test/store/stored-vocabulary.json');
const WRITES = 'WRITE_STORED_VOCABULARY';

const WHAT_TO_DO = `Redis and backups hold data with the earlier fields, and processes of two releases run at the same time.
"Versions of stored data" in docs/architecture.md has the rule for each change:
- a new field that older processes may ignore, with a default for records without it: no migration;
- a new value of a field that is parsed with orUnknown: nothing, earlier processes keep and show it;
- anything else, such as a new value of a field that is parsed strictly, or a field that goes or has another type or
  meaning: a migration, perhaps without a step, which ends the earlier processes.
When that is done, write the new vocabulary: ${WRITES}=1 npx jest test/store/stored-vocabulary`;

const STRICT_VALUES = `Processes of the release before cannot read a record with one of these values, and the schema version is
still that of the kept file, so nothing tells them to leave such a record alone. Choose one (a stored value, in
docs/contributing/how-to-add.md):
- parse the field with orUnknown, in the release before the one that stores the value;
- add a migration, which raises the schema version and ends the earlier processes.`;

const node = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  allOf: z.array(z.unknown()).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  items: z.unknown().optional(),
  additionalProperties: z.unknown().optional(),
  propertyNames: z
    .object({ enum: z.array(z.string()) })
    .optional()
    .catch(undefined),
});

/** One line per field: its path, and a type or its values. */
function linesOf(schema: unknown, path: string): string[] {
  const parsed = node.safeParse(schema);
  if (!parsed.success) return [];
  const { type, enum: values, const: only, anyOf, oneOf, allOf, properties, required = [], ...rest } = parsed.data;
  const choices = [...(anyOf ?? []), ...(oneOf ?? []), ...(allOf ?? [])];
  if (choices.length > 0) return choices.flatMap((each) => linesOf(each, path));
  if (values !== undefined) return values.map((value) => `${path} = ${JSON.stringify(value)}`);
  if (only !== undefined) return [`${path} = ${JSON.stringify(only)}`];
  const own = type === 'array' ? [] : [`${path}: ${String(type ?? 'any')}`];
  const fields = Object.entries(properties ?? {}).flatMap(([name, field]) =>
    linesOf(field, `${path}.${name}${required.includes(name) ? '' : '?'}`),
  );
  const items = rest.items === undefined ? [] : linesOf(rest.items, `${path}[]`);
  const others = properties === undefined ? linesOf(rest.additionalProperties, `${path}.*`) : [];
  const names = rest.propertyNames === undefined ? [] : linesOf(rest.propertyNames, `${path}.(name)`);
  return [...own, ...fields, ...items, ...others, ...names];
}

/** The line of the schema version. While it stays, records cannot name a later one as their oldest reader. */
const schemaLine = (version: number) => `schema version = ${version}`;

function vocabulary(records: Readonly<Record<string, z.ZodType>>): string[] {
  const lines = Object.entries(records).flatMap(([name, schema]) =>
    linesOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), name),
  );
  return [...new Set(lines)].toSorted();
}

/** What differs, one line each: `-` is only in the file, `+` only in the code. */
function differences(pinned: readonly string[], found: readonly string[]): string[] {
  const gone = pinned.filter((line) => !found.includes(line)).map((line) => `- ${line}`);
  const added = found.filter((line) => !pinned.includes(line)).map((line) => `+ ${line}`);
  return [...gone, ...added];
}

/** New values of fields that the file has already, while the schema version stays. A new field is ignored where it is unknown. */
function refusedValues(pinned: readonly string[], found: readonly string[]): string[] {
  const fieldOf = (line: string) => (line.split(/ = |: /)[0] ?? '').replaceAll('?', '');
  const known = new Set(pinned.map(fieldOf));
  const isRaised = found.some((line) => fieldOf(line) === 'schema version' && !pinned.includes(line));
  const isNew = (line: string) => line.includes(' = ') && !pinned.includes(line) && known.has(fieldOf(line));
  return isRaised ? [] : found.filter(isNew);
}

test('the stored fields and values are those of stored-vocabulary.json, so that a change is made on purpose', () => {
  const found = [schemaLine(knownSchema()), ...vocabulary(RECORDS)];
  const kept = () => z.array(z.string()).parse(JSON.parse(readFileSync(FILE, 'utf8')));
  const refused = refusedValues(kept(), found);
  if (refused.length > 0) throw new Error(`${STRICT_VALUES}\n\n${refused.join('\n')}`);
  if (process.env[WRITES] !== undefined) writeFileSync(FILE, `${JSON.stringify(found, null, 2)}\n`);
  const pinned = kept();
  const changed = differences(pinned, found);
  if (changed.length > 0) throw new Error(`What is stored has changed:\n${changed.join('\n')}\n\n${WHAT_TO_DO}`);
  expect(found.length).toBeGreaterThan(200);
});

test('a new field, a new value, another type and a missing field are all seen as changes', () => {
  const before = z.looseObject({ state: z.enum(['waiting', 'over']), since: z.number(), by: z.string().nullable() });
  const after = z.looseObject({ state: z.enum(['waiting', 'over', 'lost']), since: z.string(), who: z.string() });
  expect(differences(vocabulary({ record: before }), vocabulary({ record: after }))).toEqual([
    '- record.by: string,null',
    '- record.since: number',
    '+ record.since: string',
    '+ record.state = "lost"',
    '+ record.who: string',
  ]);
});

test('refuses a new value of a known field that is parsed strictly, unless the schema version is raised', () => {
  const linesWith = (version: number, shape: z.ZodRawShape) => [
    schemaLine(version),
    ...vocabulary({ record: z.looseObject(shape) }),
  ];
  const before = linesWith(1, {
    state: z.enum(['waiting']),
    kind: z.string(),
    open: z.partialRecord(z.enum(['a']), z.number()),
  });
  const shape = {
    state: z.enum(['waiting', 'over']),
    kind: z.enum(['x']),
    open: z.partialRecord(z.enum(['a', 'b']), z.number()),
  };
  expect(refusedValues(before, linesWith(1, shape))).toEqual([
    'record.kind = "x"',
    'record.open.(name) = "b"',
    'record.state = "over"',
  ]);
  expect(refusedValues(before, linesWith(2, shape))).toEqual([]);
  expect(refusedValues(before, [...before, 'record.added = "x"', 'record.state: string'])).toEqual([]);
});
