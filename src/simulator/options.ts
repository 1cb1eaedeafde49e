import type { Clock } from '../platform/clock';
import type { Listener } from '../platform/http';
import type { Log } from '../platform/log/log';
import { DOCUMENT_PROFILE, profileChanges, type ProfileChanges, type ServiceProfile } from './profile';

/** The settings of a simulator; everything optional has a default. */
export interface SimulatorOptions {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * The operator's base address; `/tow-request` and `/tow/invoice` are appended (docs/service-api.md#webhooks). A
   * function is called for every attempt.
   */
  readonly webhookUrl: string | (() => string);
  /** `whsec_…` secrets by webhook; the first one signs. None: webhooks are unsigned. */
  readonly webhookSecrets?: WebhookSecrets | undefined;
  /** The only client that gets a token; absent: any non-empty pair. */
  readonly credentials?: { readonly clientId: string; readonly clientSecret: string } | undefined;
  /** How the service differs from its document; default: not at all. */
  readonly profile?: ProfileChanges | undefined;
  /** From a created invoice to its webhook; default 200. */
  readonly invoiceWebhookDelayMs?: number | undefined;
  /**
   * From a reported violation to the tow request for it, if its type can be towed (operations/violations.ts); default null
   * = never: then tows are ordered by `POST /simulator/tow-requests` alone. The service's own time is "not shown".
   */
  readonly assessAfterMs?: number | null | undefined;
  /** The pauses between the attempts of one webhook; after the last attempt it is given up. */
  readonly retryDelaysMs?: readonly number[] | undefined;
  /** Zones answered with `Zone not found`, besides the nil UUID and invalid UUIDs. */
  readonly unknownZones?: readonly string[] | undefined;
}

export interface WebhookSecrets {
  readonly tow_request: readonly string[];
  readonly tow_invoice: readonly string[];
}

/** A running simulator. `stop` also ends pending webhooks and delayed answers. */
export type Simulator = Listener;

/** `SimulatorOptions` with the defaults filled in. */
export interface SimulatorSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly webhookUrl: () => string;
  readonly webhookSecrets: WebhookSecrets;
  readonly credentials: { readonly clientId: string; readonly clientSecret: string } | null;
  readonly initialProfile: ServiceProfile;
  readonly invoiceWebhookDelayMs: number;
  readonly assessAfterMs: number | null;
  readonly retryDelaysMs: readonly number[];
  readonly unknownZones: readonly string[];
}

/** Fills in the defaults. Throws for a profile that breaks its schema. */
export function settingsOf(options: SimulatorOptions): SimulatorSettings {
  const { webhookUrl } = options;
  return {
    clock: options.clock,
    log: options.log,
    webhookUrl: typeof webhookUrl === 'string' ? () => webhookUrl : webhookUrl,
    webhookSecrets: options.webhookSecrets ?? { tow_request: [], tow_invoice: [] },
    credentials: options.credentials ?? null,
    initialProfile: options.profile ? profileChanges.parse(options.profile) : DOCUMENT_PROFILE,
    invoiceWebhookDelayMs: options.invoiceWebhookDelayMs ?? 200,
    assessAfterMs: options.assessAfterMs ?? null,
    retryDelaysMs: options.retryDelaysMs ?? [500, 1000, 2000, 5000, 10_000, 30_000, 60_000],
    unknownZones: options.unknownZones ?? [],
  };
}
