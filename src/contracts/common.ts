import { z } from 'zod';
import {
  brokenReferenceRule,
  type Json,
  type JsonObject,
  ROLES,
  type TowingReference,
  type ViolationReference,
} from '../domain/vocabulary';
import { asRfc3339 } from '../domain/timestamp';
import { storedObject } from '../domain/stored';

/** Schemas that several contracts share. */

/** A received reference (see `brokenReferenceRule`). */
const newReference = <T extends string>() =>
  z.custom<T>((value) => brokenReferenceRule(value) === null, {
    error: ({ input }) => brokenReferenceRule(input) ?? '',
  });
export const newTowingReference = newReference<TowingReference>();
export const newViolationReference = newReference<ViolationReference>();

/** The maximum depth of received JSON, including the outermost object. */
export const JSON_LEVELS_MAX = 32;
/** The service echoes metadata one level inside its own message. */
export const METADATA_LEVELS_MAX = JSON_LEVELS_MAX - 1;

/** Any JSON value. */
export const json: z.ZodType<Json> = z.json();

/** A JSON object that is passed through. */
export const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), json);

/**
 * The operator's own data, echoed by the service; `id` is a string when present (docs/service-api.md#violation-record
 * and #tow-record).
 */
const withTextId = (object: z.ZodType<JsonObject>) =>
  object.refine((value) => value['id'] === undefined || typeof value['id'] === 'string', {
    path: ['id'],
    error: 'must be a string',
  });
export const metadata = withTextId(jsonObject);
/** Metadata in a message of the service, whose text was checked before it was parsed (src/domain/json.ts). */
export const echoedMetadata = withTextId(storedObject);

const NOT_AN_AMOUNT = 'must be a number or a numeric string';

/** An amount in SAR: a number, or a number as text. */
export const amount = z.union([z.number(), z.string().regex(/^\s*-?\d+(\.\d+)?\s*$/, NOT_AN_AMOUNT)], NOT_AN_AMOUNT);

/** The field of a form with images that takes those of which a part is missing. */
export const ACCEPT_DAMAGED_IMAGES = 'accept_damaged_images';
/** The most images in a form. */
export const FORM_IMAGES_MAX = 100;

/** The body of every listener's 404 for an unknown path. */
export const NO_SUCH_ADDRESS = { code: 'not_found', message: 'No such address.' } as const;

/**
 * The time of a violation. With Z or an offset it takes what the time of a fact takes, and is sent as RFC 3339 writes it,
 * because the documentation shows no other form. A time without offset is sent unchanged.
 */
export const violationTime = z
  .string()
  .trim()
  .overwrite(asRfc3339)
  .pipe(z.iso.datetime({ offset: true, local: true, error: 'must be an ISO 8601 time' }))
  .describe('ISO 8601 date and time, preferably with an offset: 2026-11-20T10:15:00+03:00');

/**
 * One line of CSV (RFC 4180), every cell in quotes. A spreadsheet takes a cell that begins like a formula for one; an
 * apostrophe prevents that.
 */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}

/** Who acts, as stored: the id of an API key or of a person at the provider, name and role. */
export const person = z.object({ id: z.string(), name: z.string(), role: z.enum(ROLES) });

/**
 * A reader of those fields of a body that keep their contracts, so that the rules can be checked although other fields
 * break theirs. It returns the parsed fields, or null for a body that is not an object.
 */
export function readableFieldsOf<B extends z.ZodObject>(body: B): (given: unknown) => Partial<z.output<B>> | null {
  const partial = body.partial();
  const readable = z.custom<Partial<z.output<B>>>((fields) => partial.safeParse(fields).success);
  return (given) => {
    const { data: fields } = z.record(z.string(), z.unknown()).safeParse(given);
    if (!fields) return null;
    const kept = Object.entries(partial.shape).flatMap(([name, schema]) => {
      const data: unknown = z.safeParse(schema, fields[name]).data;
      return data === undefined ? [] : [[name, data] as const];
    });
    return readable.parse(Object.fromEntries(kept));
  };
}
