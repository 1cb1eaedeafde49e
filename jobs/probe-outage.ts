import type { PolicySettings } from '../src/domain/policy';
import { outageDelayMs, serviceHealth } from '../src/domain/service-health';
import type { Clock } from '../src/platform/clock';
import type { Log } from '../src/platform/log';
import type { OutboxRecord } from '../src/domain/outbox-record';
import type { Outbox } from '../src/workflow/outbox-port';
import type { ServicePort } from '../src/workflow/service-port';

export interface ProbeTools {
  readonly outbox: Pick<Outbox<OutboxRecord>, 'probed'>;
  readonly service: ServicePort;
  readonly settings: PolicySettings;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Asks for a token to see whether an outage is over, or the service itself answers again, when nothing that is safe to
 * repeat can try it.
 */
export async function probeOutage(failedProbes: number, tools: ProbeTools): Promise<string> {
  const { clock, settings } = tools;
  const { exchange, durationMs } = await tools.service.call('token', null);
  const service = serviceHealth(exchange);
  const facts = { failedProbes, nowMs: clock.nowMs(), jitter: clock.random() };
  const delayMs = outageDelayMs(exchange, facts, settings);
  await tools.outbox.probed({ service, delayMs });
  tools.log.info('outage.probed', { service, exchange: exchange.kind, duration_ms: Math.round(durationMs) });
  return `outage ${service}`;
}
