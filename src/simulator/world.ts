import { z } from 'zod';
import type { jsonObject } from '../contracts/common';
import type { Clock } from '../platform/clock';
import { BoundedMap } from './bounded';
import { paidInvoice, priceInvoice, type Invoice } from './pricing';
import type { ActiveProfile } from './profile';
import { newPlate, newReference, type ReferenceKind } from './references';

export type WireObject = z.infer<typeof jsonObject>;

/** An uploaded image; only its hash is kept. */
export interface ImageSummary {
  /** The form field that it came in. */
  readonly field: string;
  readonly name: string | null;
  readonly size: number;
  readonly sha256: string;
}

export interface SimulatedViolation {
  readonly reference: string;
  /** Null when no plate number is known for it (docs/service-api.md#tow-errors). */
  readonly plateNumber: string | null;
  readonly metadata: WireObject | null;
  /** Whether a tow was ordered for it. */
  towed: boolean;
  /** The operator's form; null for a violation that the simulator created. */
  readonly form: {
    readonly fields: Readonly<Record<string, unknown>>;
    readonly images: readonly ImageSummary[];
  } | null;
}

export type TowStatus = 'started' | 'detained' | 'canceled' | 'released';

export interface SimulatedTow {
  readonly towingReference: string;
  readonly violationReference: string;
  readonly metadata: WireObject;
  /** Every accepted status update in order of arrival, with repetitions. */
  readonly statuses: TowStatus[];
  /** How many invoices were created. */
  invoices: number;
  /** The newest created invoice. */
  latestInvoice: Invoice | null;
  paymentStatus: string | null;
}

/** Violations and tows beyond this number are dropped, oldest first. */
const ENTRIES_MAX = 200_000;
const STATUSES_PER_TOW_MAX = 1000;
const NIL_UUID = '00000000-0000-0000-0000-000000000000';
const uuid = z.guid();

export interface WorldSettings {
  readonly clock: Clock;
  readonly profile: ActiveProfile;
  readonly unknownZones: readonly string[];
}

/** The state of the simulated service: its zones, violations and tows, in memory. */
export class SimulatedWorld {
  readonly #clock: Clock;
  readonly #profile: ActiveProfile;
  readonly #unknownZones: ReadonlySet<string>;
  readonly #violations = new BoundedMap<SimulatedViolation>(ENTRIES_MAX);
  readonly #tows = new BoundedMap<SimulatedTow>(ENTRIES_MAX);
  readonly #counts = { violations: 0, violations_reported: 0, tows: 0, statuses: 0, invoices: 0, payments: 0 };

  constructor({ clock, profile, unknownZones }: WorldSettings) {
    this.#clock = clock;
    this.#profile = profile;
    this.#unknownZones = new Set([NIL_UUID, ...unknownZones].map((zone) => zone.toLowerCase()));
  }

  /** Every UUID is a zone, except the nil UUID and those configured as unknown. */
  isZoneKnown(zoneId: string): boolean {
    return uuid.safeParse(zoneId).success && !this.#unknownZones.has(zoneId.toLowerCase());
  }

  violation(reference: string): SimulatedViolation | undefined {
    return this.#violations.get(reference);
  }

  tow(towingReference: string): SimulatedTow | undefined {
    return this.#tows.get(towingReference);
  }

  /** The violations that the operator reported, oldest first. */
  reportedViolations(): SimulatedViolation[] {
    return this.#violations.values().filter(({ form }) => form !== null);
  }

  /** All tows, oldest first. */
  tows(): SimulatedTow[] {
    return this.#tows.values();
  }

  /** Totals since the start, with dropped records. */
  counts(): Readonly<Record<string, number>> {
    return { ...this.#counts };
  }

  /** A violation that the operator reported. */
  reportViolation(report: Pick<SimulatedViolation, 'plateNumber' | 'metadata' | 'form'>): SimulatedViolation {
    this.#counts.violations_reported += 1;
    return this.#keepViolation({ reference: this.#newViolationReference(), towed: false, ...report });
  }

  /** Creates a violation. Without a plate it gets a random one; `null` leaves it without. */
  inventViolation(wanted: {
    reference?: string | undefined;
    metadata: WireObject;
    plateNumber?: string | null | undefined;
  }): SimulatedViolation {
    const plateNumber = wanted.plateNumber === undefined ? newPlate(this.#clock) : wanted.plateNumber;
    const reference = wanted.reference ?? this.#newViolationReference();
    return this.#keepViolation({ reference, plateNumber, metadata: wanted.metadata, towed: false, form: null });
  }

  /** Orders a tow; without a reference it gets a new one. */
  orderTow(order: { towingReference?: string; violationReference: string; metadata: WireObject }): SimulatedTow {
    const tow: SimulatedTow = {
      towingReference: order.towingReference ?? this.#newReference('TW', (reference) => this.#tows.has(reference)),
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

  /** Accepts any order of states: docs/service-api.md#states defines none. */
  recordStatus(tow: SimulatedTow, status: TowStatus): void {
    if (tow.statuses.length === STATUSES_PER_TOW_MAX) tow.statuses.shift();
    tow.statuses.push(status);
    this.#counts.statuses += 1;
  }

  /** Creates another invoice with every call, so that a repeated create is noticed. */
  createInvoice(tow: SimulatedTow, delayDays: number): Invoice {
    const invoice = this.inventInvoice(delayDays);
    tow.invoices += 1;
    tow.latestInvoice = invoice;
    this.#counts.invoices += 1;
    return invoice;
  }

  /** An invoice that no operator created and that is not counted. */
  inventInvoice(delayDays: number): Invoice {
    return priceInvoice(delayDays, () => this.#newReference('INV', () => false));
  }

  /** Marks the newest invoice as paid in full. */
  recordPayment(tow: SimulatedTow, paymentStatus: string): void {
    tow.paymentStatus = paymentStatus;
    if (tow.latestInvoice) tow.latestInvoice = paidInvoice(tow.latestInvoice);
    this.#counts.payments += 1;
  }

  #newViolationReference(): string {
    return this.#newReference('V', (reference) => this.#violations.has(reference));
  }

  #newReference(kind: ReferenceKind, isTaken: (reference: string) => boolean): string {
    return newReference(kind, { clock: this.#clock, form: this.#profile.current.references, isTaken });
  }

  #keepViolation(violation: SimulatedViolation): SimulatedViolation {
    this.#violations.set(violation.reference, violation);
    this.#counts.violations += 1;
    return violation;
  }
}
