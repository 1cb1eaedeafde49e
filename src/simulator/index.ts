import express from 'express';
import { listen } from '../platform/http';
import { Access } from './auth';
import { CallLog } from './calls';
import { controlRouter } from './control';
import { Delays } from './answer/delays';
import { FaultRules } from './answer/faults';
import { settingsOf, type Simulator, type SimulatorOptions } from './options';
import { Ordering } from './ordering';
import type { ActiveProfile } from './profile';
import { RateLimits } from './answer/rate-limits';
import { operationHandler } from './serve';
import { WebhookSender } from './webhooks';
import { SimulatedWorld } from './world';

export type { Simulator, SimulatorOptions } from './options';
export { readProfile } from './profile';

/**
 * Starts a simulator of the parking service: every operation of docs/service-api.md#operations under any path prefix,
 * both webhooks of docs/service-api.md#webhooks, the assessment that leads from a violation to a tow request (if
 * configured), and the control API below `/simulator`. Its profile says where it differs from the document. Rejects when
 * the port is taken or the profile is invalid.
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const settings = settingsOf(options);
  const { clock, log } = settings;
  const profile: ActiveProfile = { current: settings.initialProfile };
  const delays = new Delays();
  const faults = new FaultRules(clock);
  const calls = new CallLog();
  const access = new Access({ ...settings, profile });
  const world = new SimulatedWorld({ clock, profile, unknownZones: settings.unknownZones });
  const webhooks = new WebhookSender({ ...settings, profile, delays, faults });
  const ordering = new Ordering({ ...settings, profile, delays, webhooks, world });
  const limits = new RateLimits(clock, profile);
  faults.replace(profile.current.faults);

  const application = express();
  application.disable('x-powered-by');
  application.disable('etag');
  application.use(
    operationHandler({
      ...settings,
      access,
      calls,
      delays,
      faults,
      limits,
      profile,
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
      delays.cancelAll();
      await Promise.all([webhooks.stop(graceMs), listener.stop(graceMs)]);
    },
  };
}
