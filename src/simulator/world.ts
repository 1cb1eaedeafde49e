import { z } from 'zod';
import type { jsonObject } from '../contracts/common';
import type { Clock } from '../platform/clock';
import { BoundedMap } from './bounded';
import { paidInvoice, priceInvoice, type Invoice } from './pricing';
import { newPlate, newReference } from './references';

export type JsonObject = z.infer<typeof jsonObject>;

/** An uploaded image, known by its fingerprint; the bytes are not kept. */
export interface ImageSummary {
  readonly name: string | null;
  /** Bytes. */
  readonly size: number;
  readonly sha256: string;
}

export interface Violation {
  readonly reference: string;
  /** Null when no plate number is associated with it (service-api 7.2). */
  readonly plateNumber: string | null;
  readonly metadata: JsonObject | null;
  /** Whether a tow was ordered for it. */
  towed: boolean;
  /** What the operator's form said; null when the simulator made the violation up. */
  readonly form: {
    readonly fields: Readonly<Record<string, unknown>>;
    readonly images: readonly ImageSummary[];
  } | null;
}

export type TowStatus = 'started' | 'detained' | 'canceled' | 'released';

export interface Tow {
  readonly towingReference: string;
  readonly violationReference: string;
  readonly metadata: JsonObject;
  /** Every accepted status update in order of arrival, repeats included. */
  readonly statuses: TowStatus[];
  /** How many invoices were created. */
  invoices: number;
  /** The newest created invoice. */
  latestInvoice: Invoice | null;
  paymentStatus: string | null;
}

/** Violations and tows are forgotten beyond this many, oldest first. */
const ENTRIES_MAX = 200_000;
const STATUSES_PER_TOW_MAX = 1000;
const NIL_UUID = '00000000-0000-0000-0000-000000000000';
const uuid = z.guid();

/** Everything the simulated service knows: its zones, violations and tows, in memory. */
export class World {
  readonly #clock: Clock;
  readonly #unknownZones: ReadonlySet<string>;
  readonly #violations = new BoundedMap<Violation>(ENTRIES_MAX);
  readonly #tows = new BoundedMap<Tow>(ENTRIES_MAX);
  readonly #counts = { violations: 0, violations_reported: 0, tows: 0, statuses: 0, invoices: 0, payments: 0 };

  constructor(clock: Clock, unknownZones: readonly string[]) {
    this.#clock = clock;
    this.#unknownZones = new Set([NIL_UUID, ...unknownZones].map((zone) => zone.toLowerCase()));
  }

  /** Every UUID is a zone, except the nil one and those set up as unknown. */
  isZoneKnown(zoneId: string): boolean {
    return uuid.safeParse(zoneId).success && !this.#unknownZones.has(zoneId.toLowerCase());
  }

  violation(reference: string): Violation | undefined {
    return this.#violations.get(reference);
  }

  tow(towingReference: string): Tow | undefined {
    return this.#tows.get(towingReference);
  }

  /** All violations still remembered that the operator reported, oldest first. */
  reportedViolations(): Violation[] {
    return this.#violations.values().filter(({ form }) => form !== null);
  }

  /** All tows still remembered, oldest first. */
  tows(): Tow[] {
    return this.#tows.values();
  }

  /** Totals since the start, also of what was forgotten meanwhile. */
  counts(): Readonly<Record<string, number>> {
    return { ...this.#counts };
  }

  /** A violation that the operator reported. */
  reportViolation(report: Pick<Violation, 'plateNumber' | 'metadata' | 'form'>): Violation {
    this.#counts.violations_reported += 1;
    return this.#keepViolation({ reference: this.#newViolationReference(), towed: false, ...report });
  }

  /** A violation the simulator makes up; without a plate given it gets one, `null` leaves it without. */
  inventViolation(wanted: {
    reference?: string | undefined;
    metadata: JsonObject;
    plateNumber?: string | null | undefined;
  }): Violation {
    const plateNumber = wanted.plateNumber === undefined ? newPlate(this.#clock) : wanted.plateNumber;
    const reference = wanted.reference ?? this.#newViolationReference();
    return this.#keepViolation({ reference, plateNumber, metadata: wanted.metadata, towed: false, form: null });
  }

  /** Orders a tow; a reference is made up unless one is given. */
  orderTow(order: { towingReference?: string; violationReference: string; metadata: JsonObject }): Tow {
    const isTaken = (reference: string) => this.#tows.has(reference);
    const tow: Tow = {
      towingReference: order.towingReference ?? newReference('TW', { clock: this.#clock, isTaken }),
      violationReference: order.violationReference,
      metadata: order.metadata,
      statuses: [],
      invoices: 0,
      latestInvoice: null,
      paymentStatus: null,
    };
    this.#tows.set(tow.towingReference, tow);
    const violation = this.#violations.get(order.violationReference);
    if (violation) violation.towed = true;
    this.#counts.tows += 1;
    return tow;
  }

  /** Any order is accepted: service-api 3 gives none. */
  recordStatus(tow: Tow, status: TowStatus): void {
    if (tow.statuses.length === STATUSES_PER_TOW_MAX) tow.statuses.shift();
    tow.statuses.push(status);
    this.#counts.statuses += 1;
  }

  /** Makes one more invoice at every call, so that an operator who creates twice is found out. */
  createInvoice(tow: Tow, delayDays: number): Invoice {
    const invoice = this.inventInvoice(delayDays);
    tow.invoices += 1;
    tow.latestInvoice = invoice;
    this.#counts.invoices += 1;
    return invoice;
  }

  /** An invoice that no operator created and that is not counted. */
  inventInvoice(delayDays: number): Invoice {
    return priceInvoice(delayDays, () => newReference('INV', { clock: this.#clock, isTaken: () => false }));
  }

  /** The newest invoice counts as paid in full. */
  recordPayment(tow: Tow, paymentStatus: string): void {
    tow.paymentStatus = paymentStatus;
    if (tow.latestInvoice) tow.latestInvoice = paidInvoice(tow.latestInvoice);
    this.#counts.payments += 1;
  }

  #newViolationReference(): string {
    return newReference('V', { clock: this.#clock, isTaken: (reference) => this.#violations.has(reference) });
  }

  #keepViolation(violation: Violation): Violation {
    this.#violations.set(violation.reference, violation);
    this.#counts.violations += 1;
    return violation;
  }
}
