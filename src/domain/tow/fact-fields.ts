import { z } from 'zod';
import { visibleText } from '../entered-text';
import {
  latitude,
  longitude,
  oneLine,
  plateText,
  reason,
  severalLines,
  text,
  visiblePlateText,
} from '../input-schemas';
import { sensitive } from '../sensitive';
import type { FactEvent, JsonObject } from '../vocabulary';

/**
 * The fields of each fact, one row each. The API, its document and the command line, the command of the rules, the
 * correction, the call at the service, the stored and the shown tow, and the forms follow from the rows. The label of a
 * field is under its name in the messages of the console.
 */

/** A field of a fact, by its name in the API. A schema checks the value alone; rules that depend on the tow follow. */
interface Entered {
  /** As people enter it; its description is that of the API and the command line. */
  readonly entered: z.ZodType;
  /** As people correct it; absent if they cannot. */
  readonly corrected?: z.ZodType;
  /** The text as it is sent and kept; by default trimmed. */
  readonly clean?: (text: string) => string;
}

/** What becomes of it: a field without a use does not compile. */
type Use =
  /** Sent with the report, and kept with the tow; `null` there while it is not known, perhaps from the violation. */
  | { readonly sent: z.ZodType; readonly kept: z.ZodType }
  /** Sent with the report, by default under the same name. The rule of the fact gives the value. */
  | { readonly sent: z.ZodType; readonly sentAs?: string; readonly kept?: undefined }
  /** Shown on the timeline, never sent. */
  | { readonly use: 'note' }
  /** The time of the fact. */
  | { readonly use: 'time' };

export type FactField = Entered & Use;
type FactFields = Readonly<Record<string, FactField>>;

/** A time in a body: ISO 8601 with an offset. The rules check it, since it must follow the previous fact. */
export const timestamp = z.string().meta({ format: 'date-time' });

const occurred = {
  use: 'time',
  entered: timestamp
    .optional()
    .describe('when it happened, not before the previous fact and at most 2 minutes ahead (default: now)'),
} as const;

const sentText = z.string().min(1);
const towedLocation = severalLines(text(500));
const cancellationReason = severalLines(text(500));
const vehicleType = oneLine(text(50));
const delayInDays = z.int().min(0).max(36_500);
const paymentStatus = oneLine(text(50));

const FACT_FIELDS = {
  started: {
    plate_number: {
      entered: plateText()
        .optional()
        .describe('the plate; sent without invisible characters, which the timeline names'),
      corrected: visiblePlateText().optional(),
      clean: visibleText,
      sent: sensitive(z.string().min(1)),
      kept: sensitive(z.string()),
    },
    // Open question Q2: what towed_location names is not documented; we send the place the vehicle was taken from.
    towed_location: {
      entered: towedLocation.optional().describe('the place it was towed from'),
      corrected: towedLocation.optional(),
      sent: sentText,
      kept: z.string(),
    },
    latitude: {
      entered: latitude.optional().describe('degrees, from -90 to 90'),
      corrected: latitude.optional(),
      sent: z.number(),
      kept: z.number(),
    },
    longitude: {
      entered: longitude.optional().describe('degrees, from -180 to 180'),
      corrected: longitude.optional(),
      sent: z.number(),
      kept: z.number(),
    },
    occurred_at: {
      entered: occurred.entered,
      corrected: timestamp.optional().describe('between the facts before and after it, and at most 2 minutes ahead'),
      sent: sentText,
      sentAs: 'status_update_time',
    },
  },
  detained: { occurred_at: occurred },
  canceled: {
    cancellation_reason: {
      entered: cancellationReason.describe('the reason that is sent to the service'),
      corrected: cancellationReason.optional(),
      sent: sentText,
    },
    occurred_at: occurred,
    reason: {
      entered: reason.optional().describe('reason for the audit log, for an invoiced tow; never sent to the service'),
      use: 'note',
    },
  },
  released: { occurred_at: occurred },
  invoice: {
    vehicle_type: {
      entered: vehicleType.describe('vehicle type of the service'),
      corrected: vehicleType.optional(),
      sent: sentText,
    },
    delay_in_days: {
      entered: delayInDays.optional().describe('days of delay; default: computed from the detained time'),
      corrected: delayInDays.optional(),
      sent: z.int().min(0),
    },
    override_reason: {
      entered: reason.optional().describe('reason for other days than the computed ones'),
      use: 'note',
    },
  },
  payment: {
    payment_status: {
      entered: paymentStatus.optional().describe('payment status of the service; default: PAID'),
      corrected: paymentStatus.optional(),
      sent: sentText,
    },
    external_reference: {
      entered: oneLine(text(200)).optional().describe('your own reference of the payment'),
      use: 'note',
    },
    occurred_at: occurred,
  },
} as const satisfies Readonly<Record<FactEvent, FactFields>>;

type FieldTable = typeof FACT_FIELDS;

/** The name of a field in the rules and in the stored tow. */
type CamelCase<S> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : S;
/** The name of a field in the call at the service. */
type SentName<R, N> = R extends { readonly sentAs: infer As extends string } ? As : N;
type KeptName<T> = { [N in keyof T]: T[N] extends { readonly kept: z.ZodType } ? N : never }[keyof T];
type SentSchema<T> = {
  [N in keyof T as T[N] extends { readonly sent: z.ZodType } ? SentName<T[N], N> : never]: T[N] extends {
    readonly sent: infer S;
  }
    ? S
    : never;
};

/** The body of a fact in the API. */
type EnteredShape<E extends FactEvent> = {
  [N in keyof FieldTable[E]]: FieldTable[E][N] extends { readonly entered: infer S } ? S : never;
};

/** What a person enters for a fact, as the rules see it. What is omitted comes from the tow, the calendar or the clock. */
export type FactInput<E extends FactEvent> = {
  readonly [N in keyof FieldTable[E] as CamelCase<N>]?: FieldTable[E][N] extends { readonly entered: infer S }
    ? z.output<S> | undefined
    : never;
};

/** The values of the fields that a report sends, by the names of the rules. */
export type SentValues<E extends FactEvent> = {
  readonly [N in keyof FieldTable[E] as FieldTable[E][N] extends { readonly sent: z.ZodType } ? CamelCase<N> : never]:
    | string
    | number
    | null;
};

/** The shape of the stored fields that come from a fact. */
type KeptShape<E extends FactEvent> = {
  [N in KeptName<FieldTable[E]> as CamelCase<N>]: FieldTable[E][N] extends { readonly kept: infer S } ? S : never;
};

/** The correction of a report, by the names of the call. */
type CorrectedShape<E extends FactEvent> = {
  [
    N in keyof FieldTable[E] as FieldTable[E][N] extends { readonly corrected: z.ZodType }
      ? SentName<FieldTable[E][N], N>
      : never
  ]: FieldTable[E][N] extends { readonly corrected: infer S } ? S : never;
};
export type CorrectableName<E extends FactEvent> = keyof CorrectedShape<E>;

/** A stored field that comes from a fact, by its name in the API and in the rules. */
interface KeptField<E extends FactEvent> {
  readonly name: KeptName<FieldTable[E]>;
  readonly key: keyof KeptShape<E>;
  /** False for one that a tow may lack after the fact. */
  readonly isRequired: boolean;
  readonly clean: (text: string) => string;
}

const TABLE: Readonly<Record<FactEvent, FactFields>> = FACT_FIELDS;
const fieldsOf = (event: FactEvent) => Object.entries(TABLE[event]);
const sentNameOf = (name: string, field: FactField) => ('sentAs' in field ? field.sentAs : undefined) ?? name;

/** The name of a field in the rules. */
function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The body of a fact in the API. */
export function enteredShape<E extends FactEvent>(event: E): EnteredShape<E>;
export function enteredShape(event: FactEvent): z.ZodRawShape {
  return Object.fromEntries(fieldsOf(event).map(([name, { entered }]) => [name, entered]));
}

/** Entered fields under the names of the rules. */
export function inputOf<E extends FactEvent>(event: E, body: object): FactInput<E>;
export function inputOf(_event: FactEvent, body: object): object {
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [camelCase(name), value]));
}

/** The fields of a fact in the call at the service. */
export function sentShape<E extends FactEvent>(event: E): SentSchema<FieldTable[E]>;
export function sentShape(event: FactEvent): z.ZodRawShape {
  const sent = fieldsOf(event).flatMap(([name, field]) =>
    'sent' in field ? [[sentNameOf(name, field), field.sent] as const] : [],
  );
  return Object.fromEntries(sent);
}

/** The values of a report under the names of the call, in the order of the table. What is null is not sent. */
export function sentBody<E extends FactEvent>(event: E, values: SentValues<E>): JsonObject {
  const given = new Map<string, string | number | null>(Object.entries(values));
  const sent = fieldsOf(event).flatMap(([name, field]) => {
    const value = 'sent' in field ? (given.get(camelCase(name)) ?? null) : null;
    return value === null ? [] : [[sentNameOf(name, field), value] as const];
  });
  return Object.fromEntries(sent);
}

/** The stored fields that come from a fact. */
export function keptShape<E extends FactEvent>(event: E): KeptShape<E>;
export function keptShape(event: FactEvent): z.ZodRawShape {
  return Object.fromEntries(keptFields(event).map(({ key, schema }) => [key, schema]));
}

/** The same shape, with null for what is not known. */
export function nullableShape<S extends z.ZodRawShape>(shape: S): { [N in keyof S]: z.ZodNullable<S[N]> };
export function nullableShape(shape: Readonly<Record<string, z.ZodType>>): z.ZodRawShape {
  return Object.fromEntries(Object.entries(shape).map(([name, schema]) => [name, schema.nullable()]));
}

export function keptFields<E extends FactEvent>(event: E): readonly (KeptField<E> & { readonly schema: z.ZodType })[];
export function keptFields(event: FactEvent): readonly unknown[] {
  return fieldsOf(event).flatMap(([name, field]) => {
    if (!('kept' in field) || field.kept === undefined) return [];
    const isRequired = !field.kept.safeParse(null).success;
    return { name, key: camelCase(name), schema: field.kept, isRequired, clean: field.clean ?? trimmed };
  });
}

function trimmed(text: string): string {
  return text.trim();
}

/** The stored fields that come from a fact, by the names of the API. */
type ShownShape<E extends FactEvent> = {
  [N in KeptName<FieldTable[E]>]: z.ZodNullable<
    FieldTable[E][N] extends { readonly kept: infer S extends z.ZodType } ? S : never
  >;
};
export function shownShape<E extends FactEvent>(event: E): ShownShape<E>;
export function shownShape(event: FactEvent): z.ZodRawShape {
  return Object.fromEntries(keptFields(event).map(({ name, schema }) => [name, schema.nullable()]));
}

/** The fields of a report that a person may correct, with their schemas. References are never among them. */
export function correctedShape<E extends FactEvent>(event: E): CorrectedShape<E>;
export function correctedShape(event: FactEvent): z.ZodRawShape {
  const corrected = fieldsOf(event).flatMap(([name, field]) =>
    field.corrected ? [[sentNameOf(name, field), field.corrected] as const] : [],
  );
  return Object.fromEntries(corrected);
}

export function correctableNames<E extends FactEvent>(event: E): readonly CorrectableName<E>[];
export function correctableNames(event: FactEvent): readonly string[] {
  return Object.keys(correctedShape(event));
}

/** The entered fields that are shown on the timeline, by their names in the API. */
export function notesOf(event: FactEvent, input: object): JsonObject {
  const given = new Map<string, unknown>(Object.entries(input));
  const notes = fieldsOf(event).flatMap(([name, field]) => {
    const value = 'use' in field && field.use === 'note' ? given.get(camelCase(name)) : undefined;
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return Object.fromEntries(notes);
}
