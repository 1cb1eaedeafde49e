import type { Clock } from '../platform/clock';
import type { Listener } from '../platform/http';
import type { Log } from '../platform/log';

/** How a simulator of the parking service is set up. Everything optional has a default that just works. */
export interface SimulatorOptions {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly clock: Clock;
  readonly log: Log;
  /** The operator's base address; `/tow-request` and `/tow/invoice` are appended (service-api 6). Asked at every attempt. */
  readonly webhookUrl: string | (() => string);
  /** `whsec_…` secrets by webhook; the first one signs. None = webhooks go out unsigned. */
  readonly webhookSecrets?: WebhookSecrets | undefined;
  /** The only client that gets a token; absent = any non-empty pair does. */
  readonly credentials?: { readonly clientId: string; readonly clientSecret: string } | undefined;
  /** Default one hour; the service's own is "not shown" (service-api 5). */
  readonly tokenLifetimeMs?: number | undefined;
  /** From a created invoice to its webhook; default 200. */
  readonly invoiceWebhookDelayMs?: number | undefined;
  /**
   * From a reported violation to the tow request for it, if its type can be towed (operations/violations.ts); default null
   * = never: then tows are ordered by `POST /simulator/tow-requests` alone. The service's own time is "not shown".
   */
  readonly assessAfterMs?: number | null | undefined;
  /** Waits between the attempts of one webhook; when they are used up it is given up. */
  readonly retryDelaysMs?: readonly number[] | undefined;
  /** How the answers of service-api 4.5 travel (the token is always inside the envelope); default `bare`. */
  readonly answers45?: 'bare' | 'envelope' | undefined;
  /** Zones answered with `Zone not found`, besides the nil UUID and whatever is no UUID. */
  readonly unknownZones?: readonly string[] | undefined;
}

export interface WebhookSecrets {
  readonly tow_request: readonly string[];
  readonly tow_invoice: readonly string[];
}

/** A running simulator. `stop` also ends every pending webhook and delayed answer. */
export type Simulator = Listener;

/** `SimulatorOptions` with the defaults filled in. */
export interface SimulatorSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly webhookUrl: () => string;
  readonly webhookSecrets: WebhookSecrets;
  readonly credentials: { readonly clientId: string; readonly clientSecret: string } | null;
  readonly tokenLifetimeMs: number;
  readonly invoiceWebhookDelayMs: number;
  readonly assessAfterMs: number | null;
  readonly retryDelaysMs: readonly number[];
  readonly answers45: 'bare' | 'envelope';
  readonly unknownZones: readonly string[];
}

/** Fills in the defaults. */
export function settingsOf(options: SimulatorOptions): SimulatorSettings {
  const { webhookUrl } = options;
  return {
    clock: options.clock,
    log: options.log,
    webhookUrl: typeof webhookUrl === 'string' ? () => webhookUrl : webhookUrl,
    webhookSecrets: options.webhookSecrets ?? { tow_request: [], tow_invoice: [] },
    credentials: options.credentials ?? null,
    tokenLifetimeMs: options.tokenLifetimeMs ?? 3_600_000,
    invoiceWebhookDelayMs: options.invoiceWebhookDelayMs ?? 200,
    assessAfterMs: options.assessAfterMs ?? null,
    retryDelaysMs: options.retryDelaysMs ?? [500, 1000, 2000, 5000, 10_000, 30_000, 60_000],
    answers45: options.answers45 ?? 'bare',
    unknownZones: options.unknownZones ?? [],
  };
}
