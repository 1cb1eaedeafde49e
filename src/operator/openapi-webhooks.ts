import { z } from 'zod';
import { errorView } from '../contracts/operator';
import { WEBHOOKS } from '../contracts/webhooks';
import type { Json, SchemaWriter } from './openapi-schemas';

/** What the receiver answers besides 200 (design, "Webhook receiver"). */
const REFUSALS = {
  400: 'Breaks the contract; the field and the rule are named.',
  401: 'The signature or the shared secret is wrong.',
  413: 'Larger than the receiver takes.',
  415: 'Not application/json.',
  429: 'Over the rate of this source.',
  503: 'Could not be stored; send it again after Retry-After seconds.',
} as const;

const stored = z.object({ code: z.enum(['accepted', 'already_known']) });

const SIGNATURE = [
  ['webhook-id', 'The id of the call; the same on every repetition.'],
  ['webhook-timestamp', 'Seconds since 1970; at most 5 minutes off.'],
  [
    'webhook-signature',
    'Standard Webhooks: `v1,<base64>`, several separated by spaces. The names `svix-…` do as well.',
  ],
] as const;

/** The two calls of the service to the receiver (service-api 6). */
export function webhooksDescribed(schemas: SchemaWriter): Json {
  const json = (schema: z.core.$ZodType, io: 'input' | 'output') => ({
    content: { 'application/json': { schema: schemas.write(schema, io) } },
  });
  const described = Object.entries(WEBHOOKS).map(([kind, { path, body }]): [string, Json] => [
    kind,
    {
      post: {
        operationId: kind,
        tags: ['Webhooks'],
        summary: `Posted by the service to {operator_base_url}${path}.`,
        // API keys are for people and programs of the operator.
        security: [],
        parameters: SIGNATURE.map(([name, description]) => ({
          name,
          in: 'header',
          required: false,
          description: `${description} Needed where a secret is configured.`,
          schema: { type: 'string' },
        })),
        requestBody: { required: true, ...json(body, 'input') },
        responses: {
          200: { description: 'Stored now or before.', ...json(stored, 'output') },
          ...Object.fromEntries(
            Object.entries(REFUSALS).map(([status, description]) => [
              status,
              { description, ...json(errorView, 'output') },
            ]),
          ),
        },
      },
    },
  ]);
  return Object.fromEntries(described);
}
