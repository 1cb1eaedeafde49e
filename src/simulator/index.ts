import { setMaxListeners } from 'node:events';
import express from 'express';
import { listen, type Listener } from '../platform/http';
import { pause } from '../platform/timers';
import { Access } from './auth';
import { CallLog } from './calls';
import { controlRouter } from './control';
import { FaultRules } from './answer/faults';
import { Ordering } from './ordering';
import { profileChanges, type ActiveProfile, type ProfileChanges } from './profile';
import { RateLimits } from './answer/rate-limits';
import { operationHandler } from './serve';
import { WebhookSender, type WebhookSecrets } from './webhooks';
import { SimulatedWorld } from './world';
import type { Clock } from '../platform/clock';
import type { Log } from '../platform/log/log';

export { readProfile } from './profile';

/** The pauses between the attempts of one webhook. */
const RETRY_DELAYS_MS = [500, 1000, 2000, 5000, 10_000, 30_000, 60_000];

/**
 * Starts a simulator of the parking service: every operation of docs/service-api.md#operations under any path prefix,
 * both webhooks of docs/service-api.md#webhooks, the assessment that leads from a violation to a tow request (if
 * configured), and the control API below `/simulator`. Its profile says where it differs from the document. Rejects when
 * the port is taken or the profile is invalid.
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { clock, log, webhookUrl, webhookSecrets = { tow_request: [], tow_invoice: [] } } = options;
  const { invoiceWebhookDelayMs = 200, assessAfterMs = null, retryDelaysMs = RETRY_DELAYS_MS } = options;
  const profile: ActiveProfile = { current: profileChanges.parse(options.profile ?? {}) };
  const ending = new AbortController();
  // Every wait under way listens to its end.
  setMaxListeners(0, ending.signal);
  const wait = async (ms: number) => {
    await pause(ms, ending.signal);
    return !ending.signal.aborted;
  };
  const shared = { clock, log, profile, wait };
  const faults = new FaultRules(clock);
  const calls = new CallLog();
  const access = new Access({ clock, profile, credentials: options.credentials ?? null });
  const world = new SimulatedWorld({ clock, profile, unknownZones: options.unknownZones ?? [] });
  const urlOf = typeof webhookUrl === 'string' ? () => webhookUrl : webhookUrl;
  const webhooks = new WebhookSender({ ...shared, faults, webhookUrl: urlOf, webhookSecrets, retryDelaysMs });
  const ordering = new Ordering({ ...shared, webhooks, world, invoiceWebhookDelayMs, assessAfterMs });
  const limits = new RateLimits(clock, profile);
  faults.replace(profile.current.faults);

  const application = express();
  application.disable('x-powered-by');
  application.disable('etag');
  application.use(
    operationHandler({
      ...shared,
      access,
      calls,
      faults,
      limits,
      world,
      towableReported: (violation) => void ordering.towableReported(violation),
      invoiceCreated: (tow, invoice) => void ordering.invoiceCreated(tow, invoice),
    }),
  );
  application.use('/simulator', controlRouter({ log, calls, faults, ordering, profile, webhooks, world }));

  const health = { ready: async () => ({ ready: true, details: {} }) };
  const listener = await listen(application, health, { host: options.host, port: options.port });
  return {
    ...listener,
    stop: async (graceMs) => {
      ending.abort();
      await Promise.all([webhooks.stop(graceMs), listener.stop(graceMs)]);
    },
  };
}

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

/** A running simulator. `stop` also ends pending webhooks and delayed answers. */
export type Simulator = Listener;
