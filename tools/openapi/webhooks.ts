import { z } from 'zod';
import { errorView } from '../../src/contracts/operator';
import { WEBHOOKS } from '../../src/contracts/webhook/webhooks';
import { postedChange } from '../../src/contracts/ops/subscriptions';
import { CHANGE_TYPES } from '../../src/domain/ops/changes';
import type { OpenApiObject, SchemaWriter } from './schemas';

/** Answers of the receiver other than 200. */
const REFUSALS = {
  400: 'The body breaks the contract. Field and rule are named.',
  401: 'The signature or the shared secret is invalid.',
  413: 'The body is too large.',
  415: 'The content type is not application/json.',
  429: 'Too many calls from this source.',
  503: 'The call could not be stored. Send it again after Retry-After seconds.',
} as const;

const stored = z.object({ code: z.enum(['accepted', 'already_known']) });

const SIGNATURE = [
  ['webhook-id', 'The id of the call. It stays the same when the call is repeated.'],
  ['webhook-timestamp', 'Unix time in seconds. It may differ by at most 5 minutes.'],
  [
    'webhook-signature',
    'Standard Webhooks: `v1,<base64>`, several separated by spaces. The header names `svix-…` are accepted too.',
  ],
] as const;

/** The two calls of the service to the receiver (docs/service-api.md#webhooks). */
export function webhooksDescribed(schemas: SchemaWriter): OpenApiObject {
  const json = (schema: z.core.$ZodType, io: 'input' | 'output') => ({
    content: { 'application/json': { schema: schemas.write(schema, io) } },
  });
  const described = Object.entries(WEBHOOKS).map(([kind, { path, body }]): [string, OpenApiObject] => [
    kind,
    {
      post: {
        operationId: kind,
        tags: ['Webhooks'],
        summary: `Posted by the service to {operator_base_url}${path}. A prefix before the path and slashes behind it are accepted.`,
        security: [],
        parameters: SIGNATURE.map(([name, description]) => ({
          name,
          in: 'header',
          required: false,
          description: `${description} Required when a secret is configured.`,
          schema: { type: 'string' },
        })),
        requestBody: { required: true, ...json(body, 'input') },
        responses: {
          200: { description: 'Stored by this call or an earlier one.', ...json(stored, 'output') },
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
  const changes = Object.entries(CHANGE_TYPES).map(([type, row]): [string, OpenApiObject] => [
    type,
    changeOf(type, row),
  ]);
  return Object.fromEntries([...described, ...changes]);

  /** A change as it is posted to the receivers of subscriptions, signed like the calls of the service. */
  function changeOf(type: string, { summary, data }: (typeof CHANGE_TYPES)[keyof typeof CHANGE_TYPES]) {
    const facts = data.length === 0 ? 'no facts' : `the facts ${data.join(', ')}`;
    return {
      post: {
        operationId: `changed.${type}`,
        tags: ['Subscriptions'],
        summary: `${summary} Its \`data\` have ${facts}.`,
        security: [],
        parameters: [],
        requestBody: { required: true, ...json(postedChange, 'output') },
        responses: { '2XX': { description: 'Accepted. Any other answer is tried again.' } },
      },
    };
  }
}
