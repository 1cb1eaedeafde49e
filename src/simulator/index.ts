import express from 'express';
import { listen } from '../platform/http';
import { Access } from './auth';
import { CallLog } from './calls';
import { controlRouter } from './control';
import { Delays } from './delays';
import { Faults } from './faults';
import { settingsOf, type Simulator, type SimulatorOptions } from './options';
import { Ordering } from './ordering';
import { serveOperations } from './serve';
import { WebhookSender } from './webhooks';
import { World } from './world';

export type { Simulator, SimulatorOptions } from './options';

/**
 * Starts a stand-in of the parking service: every operation of service-api 4 under any path prefix, both webhooks of
 * service-api 6, the assessment that leads from a violation to a tow request (if set up), and the control face below `/simulator`. Rejects when the address cannot be listened on.
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const settings = settingsOf(options);
  const { clock, log } = settings;
  const delays = new Delays();
  const faults = new Faults(clock);
  const calls = new CallLog();
  const access = new Access(settings);
  const world = new World(clock, settings.unknownZones);
  const webhooks = new WebhookSender({ ...settings, delays, faults });
  const ordering = new Ordering({ ...settings, delays, webhooks, world });

  const application = express();
  application.disable('x-powered-by');
  application.disable('etag');
  application.use(
    serveOperations({
      ...settings,
      access,
      calls,
      delays,
      faults,
      world,
      towableReported: (violation) => void ordering.towableReported(violation),
      invoiceCreated: (tow, invoice) => void ordering.invoiceCreated(tow, invoice),
    }),
  );
  application.use('/simulator', controlRouter({ log, access, calls, faults, ordering, webhooks, world }));

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
