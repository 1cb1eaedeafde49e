import type { Clock } from '../platform/clock';
import type { Invoice } from './pricing';
import type { ActiveProfile } from './profile';
import { newId } from './references';
import type { WebhookSender } from './webhooks';
import type { WireObject, SimulatedTow, SimulatedViolation, SimulatedWorld } from './world';

export interface TowOrderRequest {
  /** A known violation: the tow is ordered for it. An unknown or absent one is created. */
  readonly violation_reference_id?: string | undefined;
  /** Default: the violation's own, else a generated id. */
  readonly metadata?: WireObject | undefined;
  readonly plate_number?: string | null | undefined;
  /** Whether the tow request webhook is sent at once. */
  readonly send: boolean;
}

export interface OrderingSettings {
  readonly clock: Clock;
  readonly profile: ActiveProfile;
  /** Waits; false when the simulator stops in the meantime. */
  readonly wait: (ms: number) => Promise<boolean>;
  readonly webhooks: WebhookSender;
  readonly world: SimulatedWorld;
  readonly invoiceWebhookDelayMs: number;
  readonly assessAfterMs: number | null;
}

/** The service's side of a tow: it orders tows and sends invoices (docs/service-api.md#states and #webhooks). */
export class Ordering {
  readonly #settings: OrderingSettings;

  constructor(settings: OrderingSettings) {
    this.#settings = settings;
  }

  orderTow(order: TowOrderRequest): SimulatedTow {
    const tow = this.#createTow(order);
    if (order.send) this.#postTowRequest(tow);
    return tow;
  }

  /** Posts a tow request, the first time or again, as a new webhook; null for an unknown tow. */
  sendTowRequest(towingReference: string): string | null {
    const tow = this.#settings.world.tow(towingReference);
    return tow ? this.#postTowRequest(tow) : null;
  }

  /**
   * Posts the invoice of a tow. Without a created invoice it sends a generated one, which does not count as created. An
   * unknown tow is created, and its tow request is not sent.
   */
  sendInvoice(
    towingReference: string,
    changes: { towing_invoice?: WireObject | undefined; delay_invoice?: WireObject | undefined },
  ): string {
    const { world } = this.#settings;
    const tow = world.tow(towingReference) ?? this.#createTow({ send: false }, towingReference);
    const { towing_invoice, delay_invoice } = tow.latestInvoice ?? world.inventInvoice(0);
    return this.#postInvoice(tow, {
      towing_invoice: { ...towing_invoice, ...changes.towing_invoice },
      delay_invoice: { ...delay_invoice, ...changes.delay_invoice },
    });
  }

  /**
   * Assesses a violation whose type can be towed (docs/service-api.md#states): after the configured delay its tow
   * request is posted with its reference and metadata, unless a tow was ordered by hand.
   */
  async towableReported(violation: SimulatedViolation): Promise<void> {
    const { wait, assessAfterMs } = this.#settings;
    if (assessAfterMs === null || !(await wait(assessAfterMs)) || violation.towed) return;
    this.orderTow({ violation_reference_id: violation.reference, send: true });
  }

  /** Posts a created invoice after the configured delay, with the amounts of its creation. */
  async invoiceCreated(tow: SimulatedTow, { towing_invoice, delay_invoice }: Invoice): Promise<void> {
    const { wait, invoiceWebhookDelayMs } = this.#settings;
    const invoices = { towing_invoice: { ...towing_invoice }, delay_invoice: { ...delay_invoice } };
    if (await wait(invoiceWebhookDelayMs)) this.#postInvoice(tow, invoices);
  }

  #createTow(order: TowOrderRequest, towingReference?: string): SimulatedTow {
    const { clock, profile, world } = this.#settings;
    const reference = order.violation_reference_id;
    const known = reference === undefined ? undefined : world.violation(reference);
    const metadata = order.metadata ?? known?.metadata ?? { id: newId(clock, profile.current.references) };
    const violation = known ?? world.inventViolation({ reference, metadata, plateNumber: order.plate_number });
    const named = towingReference === undefined ? {} : { towingReference };
    return world.orderTow({ ...named, violationReference: violation.reference, metadata });
  }

  /** Posts the tow request, and with it the events of other kinds that the profile names. */
  #postTowRequest(tow: SimulatedTow): string {
    for (const path of this.#settings.profile.current.other_events) {
      this.#settings.webhooks.sendEvent(path, { event: path.slice(1), sent_for: tow.violationReference });
    }
    return this.#settings.webhooks.send('tow_request', tow.towingReference, {
      violation_reference_id: tow.violationReference,
      towing_reference_id: tow.towingReference,
      metadata: tow.metadata,
    });
  }

  #postInvoice(tow: SimulatedTow, invoices: { towing_invoice: WireObject; delay_invoice: WireObject }): string {
    return this.#settings.webhooks.send('tow_invoice', tow.towingReference, {
      violation_reference_id: tow.violationReference,
      towing_reference_id: tow.towingReference,
      ...invoices,
      metadata: tow.metadata,
    });
  }
}
