import { z } from 'zod';
import { OPERATIONS, type Operation } from '../../src/contracts/service/operations';
import { ROUTES } from '../../src/contracts/operator-routes';
import { apiKeyRecord } from '../../src/contracts/outbox/records';
import { storedDelivery } from '../../src/domain/webhook/delivery';
import { towDocument, towMeta } from '../../src/domain/tow/tow';
import type { Route } from '../../src/contracts/routes/route';
import { sensitive, sensitiveFieldNames } from '../../src/domain/sensitive';
import { storedEntry } from '../../src/domain/outbox/entry';
import { storedLinks, storedTasks } from '../../src/domain/outbox/outbox-record';

/** Every schema of every contract. */
const schemas = [
  ...Object.values<Operation>(OPERATIONS).flatMap(({ request, answer }) => [request, answer]),
  ...Object.values<Route>(ROUTES).flatMap(({ query, body, answer }) => [query, body, answer]),
].filter((schema) => schema !== null && schema !== undefined);

/** Names of all properties in a JSON schema, at any depth. */
function propertyNames(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([name, value]: [string, unknown]) => [
    ...(name === 'properties' && typeof value === 'object' && value !== null ? Object.keys(value) : []),
    ...propertyNames(value),
  ]);
}

describe('sensitive fields', () => {
  test('marks exactly these fields in all contracts as sensitive', () => {
    expect(sensitiveFieldNames(schemas)).toEqual([
      'api_key',
      'crew',
      'fullName',
      'identityNumber',
      'mobileNumber',
      'plateNumber',
      'plate_number',
      'q',
      'secret',
      'supervisorFullName',
      'supervisorIdentityNumber',
      'supervisorMobileNumber',
      'token',
    ]);
  });

  test('marks every field named after a person, plate or secret as sensitive', () => {
    const telling = /plate_?number|identity|mobile|full_?name|^token$|secret|password|api_?key$/i;
    const options = { unrepresentable: 'any', io: 'input' } as const;
    const named = schemas.flatMap((schema) => propertyNames(z.toJSONSchema(schema, options)));
    const found = [...new Set(named)].filter((name) => telling.test(name));

    expect(found.length).toBeGreaterThan(8);
    expect(sensitiveFieldNames(schemas)).toEqual(expect.arrayContaining(found));
  });

  test('finds sensitive fields in stored records', () => {
    expect(sensitiveFieldNames([towDocument])).toEqual(['plateNumber']);
    const others = [apiKeyRecord, storedDelivery, storedEntry, storedLinks, towMeta, storedTasks];
    expect(sensitiveFieldNames(others)).toEqual([]);
  });
});

describe('sensitiveFieldNames', () => {
  const secret = () => sensitive(z.string());

  test.each([
    ['in an object', z.object({ mine: secret() })],
    ['when optional', z.object({ mine: secret().optional() })],
    ['when nullable', z.object({ mine: secret().nullable() })],
    ['when it has a default', z.object({ mine: secret().default('') })],
    ['when optional and nullable', z.object({ mine: secret().nullish() })],
    ['when transformed', z.object({ mine: secret().transform((text) => text.length) })],
    ['in an object in an object', z.object({ deep: z.object({ mine: secret() }) })],
    ['in the items of a list', z.object({ items: z.array(z.object({ mine: secret() })) })],
    ['in a list that is the message', z.array(z.object({ mine: secret() }))],
    ['in a loose and in a strict object', z.looseObject({ deep: z.strictObject({ mine: secret() }) })],
    ['in an optional object', z.object({ deep: z.object({ mine: secret() }).optional() })],
    ['in an object that is transformed', z.object({ mine: secret() }).transform(({ mine }) => mine)],
    ['when it is a list of marked items', z.object({ mine: z.array(secret()) })],
    ['beside any JSON', z.object({ mine: secret(), any: z.json() })],
    ['when it is a list that is marked', z.object({ mine: sensitive(z.array(z.string())) })],
    ['in one side of a union', z.object({ either: z.union([z.null(), z.object({ mine: secret() })]) })],
    [
      'in a union by state',
      z.discriminatedUnion('state', [
        z.object({ state: z.literal('a'), mine: secret() }),
        z.object({ state: z.literal('b') }),
      ]),
    ],
    ['in the values of a record', z.object({ all: z.record(z.string(), z.object({ mine: secret() })) })],
    ['in a tuple', z.object({ pair: z.tuple([z.number(), z.object({ mine: secret() })]) })],
    ['in an intersection', z.intersection(z.object({ other: z.number() }), z.object({ mine: secret() }))],
    ['in an object read only', z.object({ deep: z.object({ mine: secret() }).readonly() })],
    ['behind a fallback', z.object({ deep: z.object({ mine: secret() }).catch({ mine: '' }) })],
    ['in a lazy schema', z.object({ deep: z.lazy(() => z.object({ mine: secret() })) })],
  ])('sensitiveFieldNames finds a sensitive field %s', (_where, schema) => {
    expect(sensitiveFieldNames([schema])).toEqual(['mine']);
  });

  test('finds a sensitive field once and no unmarked neighbor', () => {
    const schema = z.object({
      mine: secret(),
      other: z.string(),
      deep: z.object({ mine: secret(), more: z.string() }),
    });

    expect(sensitiveFieldNames([schema, schema])).toEqual(['mine']);
  });

  test('does not change validation by marking a field', () => {
    expect(sensitive(z.string().min(2)).safeParse('a').success).toBe(false);
    expect(sensitive(z.string().min(2)).parse('ab')).toBe('ab');
  });
});
