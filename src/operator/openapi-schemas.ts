import { z } from 'zod';
import { auditView } from '../contracts/audit';
import {
  json,
  jsonObject,
  newTowingReference,
  newViolationReference,
  towingReference,
  violationReference,
} from '../contracts/common';
import { conservationView } from '../contracts/conservation';
import { capacityView, ticketView } from '../contracts/lookups';
import * as operator from '../contracts/operator';
import { quarantined } from '../contracts/records';
import { storedObject } from '../contracts/stored';
import { violationView } from '../contracts/violations';
import { REFERENCE_LENGTH_MAX } from '../domain/vocabulary';

export type Json = Record<string, unknown>;

/** What is used in more than one place, by the name it has in the document. */
const NAMED = z.registry<{ id: string }>();
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
  [quarantined, 'QuarantinedCall'],
  [operator.queueView, 'Queue'],
  [conservationView, 'Conservation'],
  [operator.apiKeyView, 'ApiKey'],
  [operator.newApiKeyView, 'NewApiKey'],
  [auditView, 'AuditEntry'],
  [operator.errorView, 'Refusal'],
];
for (const [schema, id] of NAMES) NAMED.add(schema, { id });

/** What no JSON Schema can be derived for: the service's own names, and objects that are not walked through. */
const REFERENCE = { type: 'string', minLength: 1 };
const NEW_REFERENCE = {
  ...REFERENCE,
  maxLength: REFERENCE_LENGTH_MAX,
  description: 'Well-formed Unicode without control characters; not "." or "..".',
};
const WRITTEN: ReadonlyMap<z.core.$ZodType, Json> = new Map<z.core.$ZodType, Json>([
  [towingReference, REFERENCE],
  [violationReference, REFERENCE],
  [newTowingReference, NEW_REFERENCE],
  [newViolationReference, NEW_REFERENCE],
  [storedObject, { $ref: '#/$defs/JsonObject' }],
]);

/** Writes schemas of the contracts as JSON Schema, and gathers the named ones under `components`. */
export interface SchemaWriter {
  /** `input`: what may be sent. `output`: what is answered. */
  write(schema: z.core.$ZodType, io: 'input' | 'output'): unknown;
  /** The named schemas that were used so far, by name. */
  readonly components: Json;
}

export function createSchemaWriter(): SchemaWriter {
  const components: Json = {};
  return {
    components,
    write(schema, io) {
      // A named schema at the top would be written out; inside another one it becomes a reference.
      const { properties, $defs } = z.toJSONSchema(z.object({ it: schema }), {
        io,
        unrepresentable: 'any',
        metadata: NAMED,
        override: ({ zodSchema, jsonSchema }) => {
          Object.assign(jsonSchema, WRITTEN.get(zodSchema));
        },
      });
      for (const [name, definition] of Object.entries($defs ?? {})) components[name] = tidy(definition, io);
      return tidy(properties?.['it'] ?? {}, io);
    },
  };
}

/** References point into `components`, and an answer may gain fields without breaking who reads it. */
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
