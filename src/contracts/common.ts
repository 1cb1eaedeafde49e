import { z } from 'zod';
import {
  brokenReferenceRule,
  isTowingReference,
  isViolationReference,
  type Json,
  type JsonObject,
  type TowingReference,
  type ViolationReference,
} from '../domain/vocabulary';
import { storedObject } from './stored';

/** Pieces that several wires share. */

/** The service's name of a tow as records and answers hold it; its format is documented but not relied on. */
export const towingReference = z.custom<TowingReference>(
  (value) => typeof value === 'string' && isTowingReference(value),
  'must be a non-empty string',
);

/** The service's name of a violation as records and answers hold it. */
export const violationReference = z.custom<ViolationReference>(
  (value) => typeof value === 'string' && isViolationReference(value),
  'must be a non-empty string',
);

/** A reference on its way in (see `brokenReferenceRule`). */
const newReference = <T extends string>() =>
  z.custom<T>((value) => brokenReferenceRule(value) === null, {
    error: ({ input }) => brokenReferenceRule(input) ?? '',
  });
export const newTowingReference = newReference<TowingReference>();
export const newViolationReference = newReference<ViolationReference>();

/** How deep JSON that comes to us may be nested, the outermost object included. */
export const JSON_LEVELS_MAX = 32;
/** The service echoes the metadata of a violation within a message of its own. */
export const METADATA_LEVELS_MAX = JSON_LEVELS_MAX - 1;

/** Any JSON value. */
export const json: z.ZodType<Json> = z.json();

/** A JSON object that passes through unread. */
export const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), json);

/** The operator's own data, echoed by the service; `id` is a string when present (service-api 2.4, 2.5). */
const withTextId = (object: z.ZodType<JsonObject>) =>
  object.refine((value) => value['id'] === undefined || typeof value['id'] === 'string', {
    path: ['id'],
    error: 'must be a string',
  });
export const metadata = withTextId(jsonObject);
/** The same in a message of the service, whose text was checked before it was parsed (see src/domain/json-faults.ts). */
export const echoedMetadata = withTextId(storedObject);

const NOT_AN_AMOUNT = 'must be a number or a numeric string';

/** An amount in SAR: a number, or a number as text. */
export const amount = z.union([z.number(), z.string().regex(/^\s*-?\d+(\.\d+)?\s*$/, NOT_AN_AMOUNT)], NOT_AN_AMOUNT);

/** What every listener of towhook says of a path that it does not have. */
export const NO_SUCH_ADDRESS = { code: 'not_found', message: 'No such address.' } as const;
