import { z } from 'zod';
import { BUDGET_NAMES } from '../contracts/service/operations';
import { faultRules, SIMULATED_OPERATIONS } from './answer/faults';
import { readFile } from 'node:fs/promises';
import { failedRules } from '../contracts/rules';
import { parseJson } from './fields';

/**
 * How the simulated service behaves where docs/service-api.md leaves a choice, or where a real service may differ from
 * it. Every option has the value of the document as its default. docs/simulator.md has the same table.
 */

const operation = z.enum(SIMULATED_OPERATIONS);
const path = z.string().regex(/^\/[\w/.-]*[\w.-]$/, 'must be a path that begins with / and does not end with it');
const HEADER_RULE = 'must be the value of an HTTP header: no control characters, no characters beyond U+00FF';
/** What Node sends as the value of a header. */
const headerValue = z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, HEADER_RULE);
/** A token of RFC 9110. */
const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be the name of an HTTP header');
const fieldNames = z.array(z.string().min(1)).max(20);

export const serviceProfile = z.strictObject({
  paths: z
    .partialRecord(operation, path)
    .default({})
    .describe('The path of an operation in place of the documented one, which is then unknown.'),
  faults: faultRules.default([]).describe('The faults that are active from the start.'),

  token_place: z
    .enum(['data.token', 'token', 'access_token', 'data.access_token'])
    .default('data.token')
    .describe('Where the answer carries the token. Without `data.` it has no envelope.'),
  token_with_bearer: z.boolean().default(false).describe('The token in the answer begins with `Bearer `.'),
  token_format: z.enum(['jwt', 'opaque']).default('jwt').describe('A JWT with its end, or random text.'),
  token_lifetime_ms: z.int().min(1).default(3_600_000).describe('After this time a token gets 401.'),
  token_expires_in: z.boolean().default(false).describe('The answer has `expires_in`, in seconds.'),

  rate_limits: z
    .partialRecord(z.enum(BUDGET_NAMES), z.int().min(1))
    .default({})
    .describe(
      'Calls per minute and budget, from the first call on. Such a budget has `X-RateLimit-*` on every answer; others have no limit.',
    ),
  rate_limit_reset: z
    .enum(['epoch_seconds', 'epoch_ms', 'seconds', 'date', 'absent'])
    .default('epoch_seconds')
    .describe('The form of `X-RateLimit-Reset`.'),
  retry_after: z
    .enum(['seconds', 'date', 'nonsense', 'absent'])
    .default('seconds')
    .describe('The form of `Retry-After` in a 429.'),
  images_total_bytes_max: z
    .int()
    .min(1)
    .default(10_000_000)
    .describe('The limit of 10 MB: 10,000,000 bytes, or 10,485,760.'),
  images_count_max: z.int().min(0).nullable().default(null).describe('The largest number of images; null: no limit.'),
  timestamps: z
    .enum(['utc', 'utc_whole_seconds'])
    .default('utc')
    .describe('Whether `status_update_time` may have fractions of a second.'),

  bare: z
    .array(operation)
    .default(['violation_guide', 'capacity', 'ticket'])
    .describe('Operations whose answers have no envelope.'),
  empty: z.array(operation).default([]).describe('Operations whose answers have no body.'),
  statuses: z
    .partialRecord(operation, z.literal([200, 201, 202, 204]))
    .default({})
    .describe('The status of an accepted call in place of 200. A 204 has no body.'),
  code: z.enum(['number', 'text', 'absent']).default('number').describe('The form of `code` in an envelope.'),
  message: z.enum(['text', 'null', 'absent']).default('text').describe('The form of `message` of an accepted call.'),
  refusals_in_body: z
    .boolean()
    .default(false)
    .describe('A refusal other than 401 and 403 is a 200 whose `code` is its status.'),
  refusal_shape: z
    .enum(['message', 'error', 'error_object', 'errors', 'detail', 'text', 'html'])
    .default('message')
    .describe('Where the body of a refusal has its message: a field, the first of a list, plain text or a page.'),
  content_type: headerValue.min(1).default('application/json; charset=utf-8').describe('The type of JSON answers.'),

  references: z
    .enum(['text', 'number'])
    .default('text')
    .describe('References and ids of digits alone that travel as JSON numbers. Calls may use either form.'),
  amounts: z
    .enum(['number', 'text', 'text_with_separators', 'arabic_digits'])
    .default('number')
    .describe('The form of amounts: `1150`, `"1150.00"`, `"1,150.00"` or `"١٬١٥٠٫٠٠"`.'),
  metadata: z
    .enum(['object', 'json_text', 'list', 'null', 'absent'])
    .default('object')
    .describe('The form of `metadata`. A list breaks the contract.'),
  delay_invoice: z.enum(['object', 'null', 'absent']).default('object').describe('The form of `delay_invoice`.'),
  extra_fields: z.boolean().default(false).describe('Objects have further fields that the document does not name.'),
  answer_fields_missing: fieldNames
    .default([])
    .describe('Fields that answers leave out, at any depth outside of `metadata`.'),
  webhook_fields_missing: fieldNames.default([]).describe('The same for webhooks.'),

  webhook_prefix: z
    .union([z.literal(''), path])
    .default('')
    .describe('A path between the address of the operator and that of the webhook.'),
  webhook_content_type: headerValue.min(1).default('application/json').describe('The type of webhooks.'),
  webhook_byte_order_mark: z.boolean().default(false).describe('The body of a webhook begins with U+FEFF.'),
  webhook_headers: z
    .record(headerName, headerValue)
    .default({})
    .describe('Further headers of webhooks, such as a shared secret.'),
  other_events: z
    .array(path)
    .max(10)
    .default([])
    .describe('Paths to which an event of another kind is posted with every tow request.'),
});
export type ServiceProfile = z.infer<typeof serviceProfile>;

/** As its document describes it. */
export const DOCUMENT_PROFILE: ServiceProfile = serviceProfile.parse({});

/**
 * A service that differs from its document wherever towhook can tolerate it or be configured for it. Options that
 * exclude each other have the value that is furthest from the document.
 */
export const ODD_PROFILE: ServiceProfile = serviceProfile.parse({
  paths: {
    token: '/oauth/operator-token',
    started: '/v2/tows/started',
    detained: '/v2/tows/detained',
    canceled: '/v2/tows/canceled',
    released: '/v2/tows/released',
    invoice: '/v2/billing/tow-invoices',
  },
  token_place: 'access_token',
  token_with_bearer: true,
  token_format: 'opaque',
  token_lifetime_ms: 60_000,
  token_expires_in: true,
  rate_limits: { auth: 20, site: 30, violations: 20, tickets: 40, tow: 60 },
  rate_limit_reset: 'epoch_ms',
  retry_after: 'date',
  timestamps: 'utc_whole_seconds',
  bare: ['detained', 'violation_guide', 'ticket'],
  empty: ['released'],
  statuses: { started: 201, invoice: 201, canceled: 202, payment: 204 },
  code: 'text',
  message: 'null',
  refusals_in_body: true,
  refusal_shape: 'error_object',
  content_type: 'text/json',
  references: 'number',
  amounts: 'text_with_separators',
  metadata: 'json_text',
  delay_invoice: 'absent',
  extra_fields: true,
  answer_fields_missing: ['status'],
  webhook_prefix: '/partners/parking',
  webhook_content_type: 'application/json; charset=utf-8',
  webhook_byte_order_mark: true,
  other_events: ['/violation-status', '/tickets/created', '/capacity'],
});

const PROFILES = { document: DOCUMENT_PROFILE, odd: ODD_PROFILE } as const;
export const PROFILE_NAMES = ['document', 'odd'] as const satisfies readonly (keyof typeof PROFILES)[];

/** A profile as a person writes it: the options that differ from those of `base`, which is `document` if absent. */
export const profileChanges = z
  .looseObject({ base: z.enum(PROFILE_NAMES).default('document') })
  .transform(({ base, ...options }): z.input<typeof serviceProfile> => ({ ...PROFILES[base], ...options }))
  .pipe(serviceProfile);
export type ProfileChanges = Partial<ServiceProfile> & { readonly base?: (typeof PROFILE_NAMES)[number] };

/** The profile in force; `PUT /simulator/options` replaces it. */
export interface ActiveProfile {
  current: ServiceProfile;
}

/**
 * The profile of a simulator by its name, or from the JSON file of that path.
 *
 * @throws Error that names the file, and the option with its rule.
 */
export async function readProfile(nameOrFile: string): Promise<ProfileChanges> {
  const base = PROFILE_NAMES.find((name) => name === nameOrFile);
  if (base) return { base };
  const text = await readFile(nameOrFile, 'utf8').catch(() => null);
  if (text === null) throw new Error(`must be ${PROFILE_NAMES.join(', ')} or a readable file`);
  const result = profileChanges.safeParse(parseJson(text));
  if (result.success) return result.data;
  const rules = failedRules(result.error).map(({ field, rule }) => `${field} ${rule}`);
  throw new Error(`names a file that is no profile: ${rules.join('; ')}`);
}
