import { z } from 'zod';
import type { FactCommand } from '../domain/fact-command';
import { FACTS } from '../domain/facts';
import type { FactEvent, Role } from '../domain/vocabulary';
import {
  latitude,
  longitude,
  oneLine,
  plateText,
  visiblePlateText,
  reason,
  severalLines,
  text,
} from '../domain/input-schemas';
import { readableFieldsOf } from './readable-fields';

/**
 * The fields of each fact, one row per fact. API routes, OpenAPI document, command line, demo and console forms are made
 * from these rows. A schema checks one field; rules that depend on the tow are in src/domain/facts.ts.
 */
export interface FactContract {
  readonly role: Role;
  /** What the fact means, for the API and the command line. */
  readonly summary: string;
  readonly body: z.ZodObject;
  /** Checks a body and returns the command for the rules. Throws if the body breaks the contract. */
  readonly commandOf: (body: unknown) => FactCommand;
  /** The command of only those fields that keep the contract, or null for a body that is not an object. */
  readonly readableCommandOf: (body: unknown) => FactCommand | null;
}

type CamelCase<S> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : S;

/** The command of a fact with each of its fields, so that `toCommand` cannot drop one. */
type WholeCommand<E extends FactEvent> = { [K in keyof Required<FactCommand<E>>]: FactCommand<E>[K] };

/** A body with no field but those of the command: another one would be accepted and dropped. */
type UsedFields<E extends FactEvent, B extends z.ZodObject> =
  CamelCase<keyof z.output<B>> extends keyof FactCommand<E> ? B : never;

interface ContractParts<E extends FactEvent, B extends z.ZodObject> extends Pick<FactContract, 'summary'> {
  readonly body: B & UsedFields<E, B>;
  readonly toCommand: (body: Partial<z.output<B>>) => WholeCommand<E> & FactCommand;
}

export function contractOf<E extends FactEvent, B extends z.ZodObject>(
  event: E,
  { toCommand, ...parts }: ContractParts<E, B>,
) {
  const { body } = parts;
  const readable = readableFieldsOf(body);
  return {
    ...parts,
    role: FACTS[event].role,
    commandOf: (given: unknown) => toCommand(body.parse(given)),
    readableCommandOf: (given: unknown) => {
      const fields = readable(given);
      return fields && toCommand(fields);
    },
  };
}

/** A time in a body: ISO 8601 with an offset. The rules check it, since it must follow the previous fact. */
export const timestamp = z.string().meta({ format: 'date-time' });
const occurred = {
  occurred_at: timestamp
    .optional()
    .describe('when it happened, not before the previous fact and at most 2 minutes ahead (default: now)'),
};

// A field of a fact and its correction keep the same rule.

const towedLocation = severalLines(text(500));
const cancellationReason = severalLines(text(500));
const vehicleType = oneLine(text(50));
const delayInDays = z.int().min(0).max(36_500);
const paymentStatus = oneLine(text(50));

export const FACT_CONTRACTS = {
  started: contractOf('started', {
    summary: 'The vehicle is hooked up; values that the violation has are optional.',
    body: z.strictObject({
      plate_number: plateText()
        .optional()
        .describe('the plate; sent without invisible characters, which the timeline names'),
      towed_location: towedLocation.optional().describe('the place it was towed from'),
      latitude: latitude.optional(),
      longitude: longitude.optional(),
      ...occurred,
    }),
    toCommand: (body) => ({
      event: 'started',
      plateNumber: body.plate_number,
      towedLocation: body.towed_location,
      latitude: body.latitude,
      longitude: body.longitude,
      occurredAt: body.occurred_at,
    }),
  }),
  detained: contractOf('detained', {
    summary: 'The vehicle is in the yard.',
    body: z.strictObject(occurred),
    toCommand: (body) => ({ event: 'detained', occurredAt: body.occurred_at }),
  }),
  canceled: contractOf('canceled', {
    summary: 'The tow is called off; a detained or invoiced one only by ops, an invoiced one with a reason.',
    body: z.strictObject({
      cancellation_reason: cancellationReason.describe('the reason that is sent to the service'),
      ...occurred,
      reason: reason.optional().describe('reason for the audit log, for an invoiced tow; never sent to the service'),
    }),
    toCommand: (body) => ({
      event: 'canceled',
      cancellationReason: body.cancellation_reason,
      occurredAt: body.occurred_at,
      reason: body.reason,
    }),
  }),
  released: contractOf('released', {
    summary: 'The vehicle is handed back.',
    body: z.strictObject(occurred),
    toCommand: (body) => ({ event: 'released', occurredAt: body.occurred_at }),
  }),
  invoice: contractOf('invoice', {
    summary: 'Request the invoice from the service.',
    body: z.strictObject({
      vehicle_type: vehicleType.describe('vehicle type of the service'),
      delay_in_days: delayInDays.optional().describe('days of delay; default: computed from the detained time'),
      override_reason: reason.optional().describe('reason for other days than the computed ones'),
    }),
    toCommand: (body) => ({
      event: 'invoice',
      vehicleType: body.vehicle_type,
      delayInDays: body.delay_in_days,
      overrideReason: body.override_reason,
    }),
  }),
  payment: contractOf('payment', {
    summary: 'The invoice was paid.',
    body: z.strictObject({
      payment_status: paymentStatus.optional().describe('payment status of the service; default: PAID'),
      external_reference: oneLine(text(200)).optional().describe('your own reference of the payment'),
      ...occurred,
    }),
    toCommand: (body) => ({
      event: 'payment',
      paymentStatus: body.payment_status,
      externalReference: body.external_reference,
      occurredAt: body.occurred_at,
    }),
  }),
} as const satisfies Readonly<Record<FactEvent, FactContract>>;

type CorrectableField = (typeof FACTS)[FactEvent]['correctable'][number];

/** Any correctable field. The rules check which of them the kind of a report has. */
export const correctionBody = z.strictObject({
  plate_number: visiblePlateText().optional(),
  towed_location: towedLocation.optional(),
  latitude: latitude.optional(),
  longitude: longitude.optional(),
  status_update_time: timestamp
    .optional()
    .describe('between the facts before and after it, and at most 2 minutes ahead'),
  cancellation_reason: cancellationReason.optional(),
  vehicle_type: vehicleType.optional(),
  delay_in_days: delayInDays.optional(),
  payment_status: paymentStatus.optional(),
} satisfies Readonly<Record<CorrectableField, z.ZodType>>);

const readableCorrection = readableFieldsOf(correctionBody);

/** The correction of only those fields that keep the contract, or null if there is none. */
export function readableCorrectionOf(given: unknown): z.output<typeof correctionBody> | null {
  const fields = readableCorrection(given) ?? {};
  return Object.keys(fields).length === 0 ? null : fields;
}

type FieldKind = 'text' | 'number' | 'timestamp';

/** The names of a body's fields of one kind. */
export function fieldsOfKind(body: z.ZodObject, kind: FieldKind): string[] {
  return Object.entries<z.core.$ZodType>(body.shape).flatMap(([name, schema]) =>
    kindOf(schema) === kind ? [name] : [],
  );
}

function kindOf(schema: z.core.$ZodType): FieldKind {
  const value = schema instanceof z.ZodOptional ? schema.def.innerType : schema;
  if (value === timestamp) return 'timestamp';
  return value instanceof z.ZodNumber ? 'number' : 'text';
}
