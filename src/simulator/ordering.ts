import type { Clock } from '../platform/clock';
import type { Delays } from './delays';
import type { Invoice } from './pricing';
import type { WebhookSender } from './webhooks';
import type { JsonObject, Tow, Violation, World } from './world';

export interface TowOrder {
  /** Known: the tow is for that violation. Unknown: a violation is made up under it. Absent: made up entirely. */
  readonly violation_reference_id?: string | undefined;
  /** Default: the violation's own, else a made-up id. */
  readonly metadata?: JsonObject | undefined;
  readonly plate_number?: string | null | undefined;
  /** Whether the tow request webhook leaves at once. */
  readonly send: boolean;
}

export interface OrderingSettings {
  readonly clock: Clock;
  readonly delays: Delays;
  readonly webhooks: WebhookSender;
  readonly world: World;
  readonly invoiceWebhookDelayMs: number;
  readonly assessAfterMs: number | null;
}

/** The service's own side of a tow: it orders tows and sends invoice information (service-api 3 and 6). */
export class Ordering {
  readonly #settings: OrderingSettings;

  constructor(settings: OrderingSettings) {
    this.#settings = settings;
  }

  orderTow(order: TowOrder): Tow {
    const tow = this.#createTow(order);
    if (order.send) this.#postTowRequest(tow);
    return tow;
  }

  /** Posts a tow request now, the first time or again, as a webhook of its own; null for an unknown tow. */
  sendTowRequest(towingReference: string): string | null {
    const tow = this.#settings.world.tow(towingReference);
    return tow ? this.#postTowRequest(tow) : null;
  }

  /**
   * Posts the invoice information of a tow now, whether it was created or not; one that was not is made up and does not
   * count as created. For an unknown tow, the tow is made up too and its tow request left unsent.
   */
  sendInvoice(
    towingReference: string,
    changes: { towing_invoice?: JsonObject | undefined; delay_invoice?: JsonObject | undefined },
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
   * The service's own assessment of a violation whose type can be towed (service-api 1, 3): after the usual while its tow
   * request is posted, with its reference and metadata, unless a tow was ordered by hand meanwhile.
   */
  async towableReported(violation: Violation): Promise<void> {
    const { delays, assessAfterMs } = this.#settings;
    if (assessAfterMs === null || !(await delays.wait(assessAfterMs)) || violation.towed) return;
    this.orderTow({ violation_reference_id: violation.reference, send: true });
  }

  /** Posts a created invoice after the usual while; its amounts stay those of the create. */
  async invoiceCreated(tow: Tow, { towing_invoice, delay_invoice }: Invoice): Promise<void> {
    const { delays, invoiceWebhookDelayMs } = this.#settings;
    const invoices = { towing_invoice: { ...towing_invoice }, delay_invoice: { ...delay_invoice } };
    if (await delays.wait(invoiceWebhookDelayMs)) this.#postInvoice(tow, invoices);
  }

  #createTow(order: TowOrder, towingReference?: string): Tow {
    const { clock, world } = this.#settings;
    const reference = order.violation_reference_id;
    const known = reference === undefined ? undefined : world.violation(reference);
    const metadata = order.metadata ?? known?.metadata ?? { id: clock.id() };
    const violation = known ?? world.inventViolation({ reference, metadata, plateNumber: order.plate_number });
    const named = towingReference === undefined ? {} : { towingReference };
    return world.orderTow({ ...named, violationReference: violation.reference, metadata });
  }

  #postTowRequest(tow: Tow): string {
    return this.#settings.webhooks.send('tow_request', tow.towingReference, {
      violation_reference_id: tow.violationReference,
      towing_reference_id: tow.towingReference,
      metadata: tow.metadata,
    });
  }

  #postInvoice(tow: Tow, invoices: { towing_invoice: JsonObject; delay_invoice: JsonObject }): string {
    return this.#settings.webhooks.send('tow_invoice', tow.towingReference, {
      violation_reference_id: tow.violationReference,
      towing_reference_id: tow.towingReference,
      ...invoices,
      metadata: tow.metadata,
    });
  }
}
