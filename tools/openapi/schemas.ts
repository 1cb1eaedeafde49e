import { z } from 'zod';
import { auditView } from '../../src/contracts/ops/audit';
import { json, jsonObject, newTowingReference, newViolationReference } from '../../src/contracts/common';
import { conservationView } from '../../src/contracts/ops/conservation';
import { timestamp } from '../../src/domain/tow/fact-fields';
import { capacityView, ticketView } from '../../src/contracts/routes/violations';
import { alarmView, notificationsView } from '../../src/contracts/ops/notifications';
import * as operator from '../../src/contracts/operator';
import { changeView } from '../../src/contracts/ops/changes';
import { newSubscriptionView, postedChange, subscriptionView } from '../../src/contracts/ops/subscriptions';
import { otherCall } from '../../src/contracts/outbox/records';
import { refusedCall } from '../../src/contracts/webhook/webhooks';
import { storedObject, towingReference, violationReference } from '../../src/domain/stored';
import { violationView } from '../../src/contracts/violation/violations';
import { REFERENCE_LENGTH_MAX } from '../../src/domain/vocabulary';

/** An object of the document. */
export type OpenApiObject = Record<string, unknown>;

/** Schemas that become components of the document, by name. */
const COMPONENTS = z.registry<{ id: string }>();
const NAMES: readonly [z.ZodType, string][] = [
  [json, 'Json'],
  [jsonObject, 'JsonObject'],
  [operator.towView, 'Tow'],
  [operator.reportView, 'Report'],
  [operator.taskView, 'Task'],
  [violationView, 'Violation'],
  [capacityView, 'Capacity'],
  [ticketView, 'Ticket'],
  [operator.sendingView, 'Sending'],
  [operator.deliveryView, 'Delivery'],
  [operator.deliveryDetail, 'DeliveryDetail'],
  [otherCall, 'OtherCall'],
  [refusedCall, 'RefusedCall'],
  [operator.queueView, 'Queue'],
  [conservationView, 'Conservation'],
  [alarmView, 'Alarm'],
  [notificationsView, 'Notifications'],
  [operator.apiKeyView, 'ApiKey'],
  [operator.newApiKeyView, 'NewApiKey'],
  [auditView, 'AuditEntry'],
  [changeView, 'Change'],
  [postedChange, 'PostedChange'],
  [subscriptionView, 'Subscription'],
  [newSubscriptionView, 'NewSubscription'],
  [operator.errorView, 'Refusal'],
];
for (const [schema, id] of NAMES) COMPONENTS.add(schema, { id });

/** Schemas from which zod cannot derive a JSON Schema, or not all of it. */
const REFERENCE = { type: 'string', minLength: 1 };
const NEW_REFERENCE = {
  ...REFERENCE,
  maxLength: REFERENCE_LENGTH_MAX,
  description: 'Well-formed Unicode without control characters; not "." or "..".',
};
const CUSTOM_SCHEMAS: ReadonlyMap<z.core.$ZodType, OpenApiObject> = new Map<z.core.$ZodType, OpenApiObject>([
  [towingReference, REFERENCE],
  [violationReference, REFERENCE],
  [newTowingReference, NEW_REFERENCE],
  [newViolationReference, NEW_REFERENCE],
  [storedObject, { $ref: '#/$defs/JsonObject' }],
  // Their rules check it, since they depend on the tow.
  [timestamp, { format: 'date-time' }],
]);

/** Converts zod schemas to JSON Schema, and collects the named ones in `components`. */
export interface SchemaWriter {
  /** `input` for requests, `output` for answers. */
  write(schema: z.core.$ZodType, io: 'input' | 'output'): unknown;
  /** The named schemas that were used so far. */
  readonly components: OpenApiObject;
}

export function createSchemaWriter(): SchemaWriter {
  const components: OpenApiObject = {};
  return {
    components,
    write(schema, io) {
      // zod makes a reference of a named schema only inside another schema.
      const { properties, $defs } = z.toJSONSchema(z.object({ it: schema }), {
        io,
        unrepresentable: 'any',
        metadata: COMPONENTS,
        override: ({ zodSchema, jsonSchema }) => {
          // The registry of components replaces the one that holds the descriptions.
          const description = z.globalRegistry.get(zodSchema)?.description;
          Object.assign(jsonSchema, CUSTOM_SCHEMAS.get(zodSchema), description === undefined ? {} : { description });
        },
      });
      for (const [name, definition] of Object.entries($defs ?? {})) components[name] = tidy(definition, io);
      return tidy(properties?.['it'] ?? {}, io);
    },
  };
}

/** Points references to `components`. Allows additional fields in answers, so that new fields break no client. */
function tidy(value: unknown, io: 'input' | 'output'): unknown {
  if (Array.isArray(value)) return value.map((item) => tidy(item, io));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(
    ([key, inner]) => !(key === 'additionalProperties' && inner === false && io === 'output'),
  );
  return Object.fromEntries(
    kept.map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string'
        ? inner.replace('#/$defs/', '#/components/schemas/')
        : tidy(inner, io),
    ]),
  );
}
