import { z } from 'zod';
import { fieldOption } from '../../src/cli/fields';
import { inputFields } from '../../src/contracts/input-fields';
import { correctionBody, FACT_CONTRACTS, fieldsOfKind, type FactContract } from '../../src/contracts/tow/facts';
import { OPERATIONS } from '../../src/contracts/service/operations';
import { ROUTES } from '../../src/contracts/operator-routes';
import type { Route } from '../../src/contracts/routes/route';
import { factRoute } from '../../src/contracts/routes/tows';
import { AUDIT_ACTIONS } from '../../src/domain/ops/audit';
import { CORRECTABLE, FACTS } from '../../src/domain/tow/facts';
import type { FactField } from '../../src/domain/tow/fact-fields';
import { owedReport } from '../../src/domain/tow/report-bodies';
import { FACT_EVENTS } from '../../src/domain/vocabulary';
import { towAs } from '../domain/tows';
import { openApiDocument } from '../../tools/openapi/document';

/** A fact that the product does not have: one more row of the table. */
const inspected: FactContract = {
  role: 'crew',
  summary: 'The vehicle was inspected.',
  body: z.strictObject({
    mileage_km: z.number().optional().describe('the reading of the odometer'),
    inspector: z.string().describe('the name of the inspector'),
    occurred_at: FACT_CONTRACTS.detained.body.shape.occurred_at,
  }),
  commandOf: () => ({ event: 'detained' }),
  readableCommandOf: () => ({ event: 'detained' }),
};

test('a field of a fact that is entered and not used does not compile', () => {
  const entered = z.number().optional();
  // @ts-expect-error The reading of the odometer is neither sent nor shown.
  const unused: FactField = { entered };
  const sent: FactField = { entered, sent: z.number() };
  const shown: FactField = { entered, use: 'note' };
  expect([unused, sent, shown]).toHaveLength(3);
});

test('a report without the value of a field that is sent does not compile', () => {
  const tow = towAs('requested');
  // @ts-expect-error The reason is missing.
  expect(owedReport(tow, 'canceled', {}).body).not.toHaveProperty('cancellation_reason');
  expect(owedReport(tow, 'canceled', { cancellationReason: 'gone' }).body).toHaveProperty('cancellation_reason');
});

test('an additional row of the facts table makes a route with its role, body and summary', () => {
  const route = factRoute('inspected', inspected);

  expect(route).toMatchObject({
    method: 'post',
    path: '/api/tows/:towing_reference_id/inspected',
    role: 'crew',
    status: 202,
    summary: 'The vehicle was inspected.',
  });
  expect(route.body).toBe(inspected.body);
});

test('an additional row of the facts table makes a path in the OpenAPI document', () => {
  const routes = { inspected: factRoute('inspected', inspected) };
  const { paths } = z
    .object({ paths: z.record(z.string(), z.unknown()) })
    .parse(openApiDocument([{ name: 'Tows', description: '', routes }]));

  expect(paths['/api/tows/{towing_reference_id}/inspected']).toMatchObject({
    post: {
      operationId: 'inspected',
      requestBody: { content: { 'application/json': { schema: { required: ['inspector'] } } } },
    },
  });
});

test('an additional row of the facts table makes a command with an option per field', () => {
  const route: Route = factRoute('inspected', inspected);

  expect(route.command).toBe('tow inspected <towing_reference_id>');
  expect(inputFields(route).map((field) => [fieldOption(field).flags, field.description])).toEqual([
    ['--mileage-km <number>', 'the reading of the odometer'],
    ['--inspector <text>', 'the name of the inspector'],
    [
      '--occurred-at <time>',
      'when it happened, not before the previous fact and at most 2 minutes ahead (default: now)',
    ],
  ]);
});

test('the fields of an additional row of the facts table are known to forms by kind', () => {
  expect(fieldsOfKind(inspected.body, 'number')).toEqual(['mileage_km']);
  expect(fieldsOfKind(inspected.body, 'timestamp')).toEqual(['occurred_at']);
});

describe.each(FACT_EVENTS)('%s', (event) => {
  test(`the fact ${event} has a route and an operation in the OpenAPI document, with its summary and role`, () => {
    const { paths } = z
      .object({ paths: z.record(z.string(), z.record(z.string(), z.looseObject({ summary: z.string() }))) })
      .parse(openApiDocument());

    expect(ROUTES[event]).toMatchObject({ role: FACTS[event].role, summary: FACT_CONTRACTS[event].summary });
    expect(paths[`/api/tows/{towing_reference_id}/${event}`]?.['post']?.summary).toBe(FACT_CONTRACTS[event].summary);
  });

  test(`the report of the fact ${event} can be corrected only in fields that its call has`, () => {
    const { request } = OPERATIONS[event];

    expect(Object.keys(request.shape)).toEqual(expect.arrayContaining([...CORRECTABLE[event]]));
    expect(Object.keys(correctionBody.shape)).toEqual(expect.arrayContaining([...CORRECTABLE[event]]));
  });

  test(`the fact ${event} is audited under a separate action`, () => {
    const { auditAction } = FACTS[event];

    expect(AUDIT_ACTIONS.filter((action) => action === auditAction)).toEqual([auditAction]);
  });
});
