import * as fc from 'fast-check';
import { z } from 'zod';
import { readCursor, writeCursor } from '../../../src/contracts/paging';
import { ROUTES } from '../../../src/contracts/operator-routes';
import type { Route } from '../../../src/contracts/routes/route';
import type { Actor } from '../../../src/domain/ops/audit';
import { checkCall } from '../../../src/operator/check-call';
import { changeOnce } from '../../../src/operator/idempotency';
import { listCursor } from '../../../src/operator/list-cursor';
import { edited, editedText, perhapsEdits } from '../bytes';
import { messagesOf } from '../from-schema';
import { bulkyJson, hostileText } from '../hostile';
import { judgeApi, judgePage } from '../judge';
import { FUZZ_API_KEY, KNOWN_TOWS } from '../product';
import { createTarget } from '../target';

/** Calls of the operator API: paths, queries, JSON bodies, Idempotency-Keys and cursors. */

interface ApiInput {
  readonly route: Route;
  /** With its parameters filled in. */
  readonly path: string;
  readonly query: string;
  readonly idempotencyKey: string | null;
  readonly authorization: string;
  readonly body: Buffer;
}

const BODY_LIMIT_BYTES = 100_000;
const ACTOR: Actor = { id: 'fuzz', name: 'fuzz', role: 'ops' };
/** Hostile answers of the service are the target `answers`. Here the fake service gives no answer about a zone. */
const DOCUMENTED_5XX = ['service_unavailable', 'service_connection_lost', 'answer_broken', 'budget_spent'];

const json: readonly Route[] = Object.values(ROUTES).filter((route: Route) => route.takes !== 'form');
const bodies = new Map(json.map((route) => [route, route.body ? messagesOf(route.body, known()) : fc.constant({})]));
const queries = new Map(json.map((route) => [route, route.query ? messagesOf(route.query, known()) : fc.constant({})]));

function known() {
  const cursor = fc.oneof(
    fc.tuple(fc.double(), hostileText).map(([score, member]) => writeCursor({ score, member })),
    fc.integer({ min: 0, max: 2e12 }).map((score) => writeCursor({ score, member: KNOWN_TOWS[0] ?? '' })),
    hostileText,
  );
  return {
    cursor,
    limit: fc.oneof(fc.integer({ min: 1, max: 200 }).map(String), hostileText),
    // Few, so that a run does not make thousands of keys.
    name: fc.integer({ min: 0, max: 30 }).map((number) => `key ${number}`),
  };
}

const paths = (route: Route): fc.Arbitrary<string> => {
  const part = (name: string) =>
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...valuesOf(name)) },
      { weight: 1, arbitrary: hostileText.map((text) => encodeURIComponent(text.toWellFormed())) },
      { weight: 1, arbitrary: fc.constantFrom('%', '%E6%B8', '%00', '..%2f..', '%2e%2e', '//', ';', '%ff') },
    );
  const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  return fc
    .tuple(fc.tuple(...names.map(part)), fc.oneof({ weight: 12, arbitrary: fc.constant([]) }, perhapsEdits))
    .map(([values, changes]) => {
      let index = 0;
      return editedText(
        route.path.replaceAll(/:(\w+)/g, () => values[index++] ?? ''),
        changes,
      );
    });
};

/** Without names of queues: a paused queue would stop the deliveries of the run. */
function valuesOf(name: string): readonly string[] {
  if (name === 'towing_reference_id') return KNOWN_TOWS;
  if (name === 'zone_id') return ['11111111-2222-4333-8444-555555555555', 'not-a-zone'];
  if (name === 'operation') return ['started', 'violation', 'invoice', 'none'];
  return ['1', '0', 'rep_1', 'x', '-1', '99999999999999999999', '00000000-0000-4000-8000-000000000000'];
}

const rawBodies = (route: Route): fc.Arbitrary<Buffer> =>
  fc.oneof(
    {
      weight: 40,
      arbitrary: fc
        .tuple(bodies.get(route) ?? fc.constant({}), fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, perhapsEdits))
        .map(([body, changes]) => edited(Buffer.from(JSON.stringify(body) ?? ''), changes)),
    },
    { weight: 4, arbitrary: fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: bulkyJson(BODY_LIMIT_BYTES, fc.constantFrom('{', '{"reason":"x",', '{"text":"x",')) },
  );

const rawQueries = (route: Route): fc.Arbitrary<string> =>
  fc
    .tuple(queries.get(route) ?? fc.constant({}), fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, perhapsEdits))
    .map(([query, changes]) => {
      const object = z.record(z.string(), z.unknown()).safeParse(query);
      const search = new URLSearchParams();
      for (const [name, value] of Object.entries(object.success ? object.data : {})) {
        search.append(name, typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
      }
      // A cursor without its list would only be refused.
      const list = { params: () => '', query: Object.fromEntries(search) };
      const cursor = listCursor(route, list, search.get('cursor'));
      if (cursor !== null) search.set('cursor', cursor);
      return editedText(search.toString(), changes);
    });

const inputs: fc.Arbitrary<ApiInput> = fc.oneof(
  ...json.map((route) =>
    fc.record({
      route: fc.constant(route),
      path: paths(route),
      query: rawQueries(route),
      idempotencyKey: fc.option(
        fc.oneof(fc.uuid(), hostileText, fc.constant('k'.repeat(255)), fc.constant('k'.repeat(256))),
      ),
      authorization: fc.oneof(
        { weight: 30, arbitrary: fc.constant(`Bearer ${FUZZ_API_KEY}`) },
        perhapsEdits.map((changes) => editedText(`Bearer ${FUZZ_API_KEY}`, changes)),
      ),
      body: route.method === 'get' ? fc.constant(Buffer.alloc(0)) : rawBodies(route),
    }),
  ),
);

/** Remembers nothing, as if every key were new. */
const answers = {
  find: () => Promise.resolve(null),
  settle: (_scope: string, answer: string) => Promise.resolve(answer),
};

export const apiTarget = createTarget<ApiInput>({
  name: 'api',
  share: 0.2,
  inputs,
  shown: ({ route, ...rest }) => ({ ...rest, route: `${route.method} ${route.path}` }),
  async direct({ route, path, query, idempotencyKey, body }) {
    const parsed = parsedJson(body);
    if (parsed === undefined) return null;
    const fields = Object.fromEntries(new URLSearchParams(query));
    readCursor(fields['cursor'] ?? '');
    const call = checkCall(route, { actor: ACTOR, params: () => '', query: fields, body: parsed });
    if ('refusal' in call) {
      const { httpStatus, details } = call.refusal;
      return httpStatus === 422 && details.length > 0 ? null : `a refusal ${httpStatus} lists ${details.length} fields`;
    }
    if (route.method === 'get' || !route.body) return null;
    const changeRequest = { method: 'POST', path, idempotencyKey: idempotencyKey ?? undefined, content: parsed };
    const change = {
      effect: () => Promise.resolve({ kind: 'done', value: {} } as const),
      status: 202,
    };
    const result = await changeOnce(changeRequest, answers, change);
    return result.kind === 'answered' || result.kind === 'refused' ? null : `a change ends as ${result.kind}`;
  },
  async send({ route, path, query, idempotencyKey, authorization, body }, { consoleUrl, http }, again) {
    const response = await http.send(consoleUrl, {
      method: route.method.toUpperCase(),
      path: query === '' ? path : `${path}?${query}`,
      headers: {
        accept: 'application/json',
        authorization,
        'content-type': 'application/json',
        ...(idempotencyKey === null
          ? {}
          : { 'idempotency-key': again === 0 ? idempotencyKey : `${again} ${idempotencyKey}` }),
      },
      body,
    });
    // A changed path may be that of a page, or of another route with another answer.
    if (!/^\/api(\/|$)/i.test(path)) return judgePage(response);
    return judgeApi(response, { answer: z.unknown(), documented5xx: DOCUMENTED_5XX });
  },
});

/** Undefined for a body that the parser of the API refuses, because it is not an object or list. */
function parsedJson(body: Buffer): unknown {
  if (body.length > BODY_LIMIT_BYTES) return undefined;
  if (body.length === 0) return {};
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
