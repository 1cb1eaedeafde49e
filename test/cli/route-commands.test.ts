import { towView, queueView } from '../../src/contracts/operator';
import { api, towIn, towPath } from '../operator/client';
import { newTow, record } from '../operator/world';
import { useApp } from '../support/app';
import { run, type ProgramRun } from './command';
import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { compiledFile } from '../support/compiled';
import { z } from 'zod';
import { inputFields } from '../../src/contracts/input-fields';
import { ROUTES } from '../../src/contracts/operator-routes';
import type { Route } from '../../src/contracts/routes/route';

const app = useApp({ role: 'console' });

const towhook = (...words: readonly string[]) => run(words, { url: app.consoleUrl, apiKey: app.apiKey });

/** Sets the title of a terminal, clears it, begins a sequence in one character, turns the text around, erases. */
const NOTE = 'seen\u001b]0;title\u0007\u001b[2J\u009b31m\u202etxet\u007f\nsecond line';
const SHOWN = String.raw`seen\u001b]0;title\u0007\u001b[2J\u009b31m\u202etxet\u007f\nsecond line`;
const HARMFUL = /[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/u;

const printed = ({ out, problems }: ProgramRun) => `${out}\n${problems}`;

async function towWithNote(): Promise<string> {
  const ref = await newTow(app);
  await record(app, ref, 'started');
  towIn(await api(app).post(towPath(ref, '/notes')).send({ text: NOTE }));
  return ref;
}

describe('command line: control characters from the server', () => {
  test('shows the control characters of a note as escapes, on one line', async () => {
    const result = await towhook('tow', 'show', await towWithNote());
    expect(result.exitCode).toBe(0);
    expect(printed(result)).not.toMatch(HARMFUL);
    expect(result.out).toContain(SHOWN);
  });

  test('prints JSON without control characters that has the note as it is', async () => {
    const result = await towhook('tow', 'show', await towWithNote(), '--json');
    expect(printed(result)).not.toMatch(HARMFUL);
    const { notes } = towView.parse(result.json()).dispatch;
    expect(notes.map(({ text }) => text)).toEqual([NOTE]);
  });

  test('shows those of a refusal as escapes', async () => {
    const result = await towhook('tow', 'show', 'TW-\u001b[2J\u009b31m');
    expect(result.exitCode).not.toBe(0);
    expect(printed(result)).not.toMatch(HARMFUL);
  });

  test.each([[[]], [['--json']]])('shows those of a finding of the doctor as escapes: %j', async (more) => {
    const finding = { check: 'service', state: 'fault', code: 'refused', what: NOTE, fix: NOTE } as const;
    const doctor = () => Promise.resolve([finding]);
    const result = await run(['doctor', ...more], { url: app.consoleUrl, apiKey: app.apiKey, doctor });
    expect(printed(result)).not.toMatch(HARMFUL);
    expect(result.out).toContain(SHOWN);
  });
});

/** Runs the program with a standard output that the system refuses to write, as on a full disk. */
async function runOnFullDisk(words: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const full = await open('/dev/full', 'w');
  const child = spawn(process.execPath, [compiledFile('src/main/towhook.ts'), ...words], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', full.fd, 'pipe'],
  });
  let problems = '';
  child.stderr?.on('data', (chunk: Buffer) => (problems += chunk.toString()));
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  await full.close();
  return { exitCode, problems };
}

const WHY = 'towhook: The command was carried out, but its output could not be written: ENOSPC.';

test.each([[[]], [['--json']]])(
  'towhook key create %j exits with 6 and names the command for a new secret when the output cannot be written',
  async (more) => {
    const environment = { TOWHOOK_URL: app.consoleUrl, TOWHOOK_API_KEY: app.apiKey };
    const words = ['key', 'create', '--name', 'yard', '--role', 'crew', ...more];
    const { exitCode, problems } = await runOnFullDisk(words, environment);
    expect(exitCode).toBe(6);
    expect(problems).toContain('but its output could not be written: ENOSPC.');
    expect(problems).toMatch(/For a new secret: towhook key rotate [\w-]+/);
  },
);

test('towhook names the idempotency key of a change whose output cannot be written', async () => {
  const environment = { TOWHOOK_URL: app.consoleUrl, TOWHOOK_API_KEY: app.apiKey };
  expect(await runOnFullDisk(['queue', 'pause', 'reports', '--idempotency-key', 'mine'], environment)).toEqual({
    exitCode: 6,
    problems: `${WHY}\nRepeat the command with --idempotency-key mine: the change is made once.\n`,
  });
});

test.each(['--help', '--version'])('towhook %s exits with 6 when the output cannot be written', async (word) => {
  expect(await runOnFullDisk([word])).toEqual({ exitCode: 6, problems: `${WHY}\n` });
});

const routes = Object.entries<Route>(ROUTES);
/** Called by `towhook violation import`. */
const BY_HAND = ['addKnownViolations'];

test('every route of the API names its command, and no two the same', () => {
  expect(routes.flatMap(([name, { command }]) => (command === undefined ? [name] : []))).toEqual(BY_HAND);
  const words = routes.flatMap(([, { command = null }]) => (command === null ? [] : [command.replace(/ [<[].*/, '')]));
  expect(new Set(words).size).toBe(words.length);
});

test.each(routes.filter(([, { command }]) => command !== undefined))(
  'the arguments of the command of %s are the parts of its path, then fields of its body',
  (_name, route) => {
    const given = [...(route.command ?? '').matchAll(/[<[](\w+)/g)].map(([, argument]) => argument);
    const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, part]) => part);
    expect(given.slice(0, inPath.length)).toEqual(inPath);
    expect(inputFields(route).map(({ name }) => name)).toEqual(expect.arrayContaining(given.slice(inPath.length)));
  },
);

interface AnswerSchema {
  readonly properties?: Readonly<Record<string, AnswerSchema>> | undefined;
  readonly items?: AnswerSchema | undefined;
  readonly anyOf?: readonly AnswerSchema[] | undefined;
  readonly additionalProperties?: unknown;
  readonly $ref?: string | undefined;
}
const answerSchema: z.ZodType<AnswerSchema> = z.lazy(() =>
  z.object({
    properties: z.record(z.string(), answerSchema).optional(),
    items: answerSchema.optional(),
    anyOf: z.array(answerSchema).optional(),
    additionalProperties: z.unknown().optional(),
    $ref: z.string().optional(),
  }),
);

/** True if an answer may have a field at this path. */
function hasField(schema: AnswerSchema, path: readonly string[]): boolean {
  const [name = null, ...rest] = path;
  if (name === null) return true;
  const { properties = {}, items, anyOf = [] } = schema;
  const inner = properties[name];
  if (inner !== undefined) return hasField(inner, rest);
  // Part of a message of the service, whose fields are not listed.
  if (schema.$ref !== undefined || typeof schema.additionalProperties === 'object') return true;
  return [...(items ? [items] : []), ...anyOf].some((other) => hasField(other, path));
}

test.each(routes.filter(([, { shows }]) => shows !== undefined))(
  'the answer of %s has every field that its command shows',
  (_name, { answer, shows = '' }) => {
    const schema = answerSchema.parse(z.toJSONSchema(answer, { unrepresentable: 'any' }));
    const isList = schema.properties?.['items'] !== undefined;
    const paths = shows.trim().split(/\s+/);
    expect(paths.filter((path) => !hasField(schema, [...(isList ? ['items'] : []), ...path.split('.')]))).toEqual([]);
  },
);

test('towhook tow assign sets crew and truck, and --clear empties the crew', async () => {
  const ref = await newTow(app);
  expect((await towhook('tow', 'assign', ref, 'Crew 4', '--truck', 'T-12')).out).toMatch(/crew: +Crew 4\n/);
  const cleared = await towhook('tow', 'assign', ref, '--clear', 'crew');
  expect([cleared.exitCode, cleared.out.includes('Crew 4')]).toEqual([0, false]);
});

test('towhook prints the lists of a record as tables and its other fields as names and values', async () => {
  const ref = await newTow(app);
  await towhook('tow', 'started', ref, '--plate-number', 'ABJ 1234', '--towed-location', 'Olaya', '--latitude', '24.7');
  await towhook('tow', 'note', ref, 'Owner calls back');
  const { out } = await towhook('tow', 'show', ref);
  expect(out).toMatch(new RegExp(`^towing reference id: +${ref}$`, 'm'));
  expect(out).toMatch(/\n\nDispatch notes\n {2}TEXT +AT +BY\n {2}Owner calls back +[\d-]+ [\d:]+ +bootstrap/);
});

test('towhook api calls a route with the body of --data and prints its answer', async () => {
  const paused = await towhook('api', 'POST', '/api/queues/reports/pause', '--data', '{"reason": "deploying"}');
  expect([paused.exitCode, queueView.parse(paused.json()).paused]).toEqual([0, true]);
  expect(queueView.parse((await towhook('api', 'post', '/api/queues/reports/resume')).json()).paused).toBe(false);
  expect((await towhook('api', 'GET', '/api/tows?state=released')).json()).toEqual({ items: [], next_cursor: null });
  const refused = await towhook('api', 'GET', '/api/tows?state=flying');
  expect([refused.exitCode, refused.out]).toEqual([1, '']);
});
