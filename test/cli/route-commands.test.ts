import { z } from 'zod';
import { inputFields } from '../../src/contracts/input-fields';
import { queueView } from '../../src/contracts/operator';
import { ROUTES } from '../../src/contracts/operator-routes';
import type { Route } from '../../src/contracts/routes/route';
import { newTow } from '../operator/world';
import { useApp } from '../support/app';
import { run } from './command';

const app = useApp({ role: 'console' });
const towhook = (...words: readonly string[]) => run(words, { url: app.consoleUrl, apiKey: app.apiKey });

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
