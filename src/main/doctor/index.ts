import type { DoctorOptions, Finding } from '../../cli';
import type { Clock } from '../../platform/clock';
import { silentLog } from '../../platform/log';
import { createResources } from '../../platform/resources';
import { lookAtConfiguration } from './configuration';
import { notesOf } from './finding';
import { lookAtConsole, lookAtReceiver } from './listeners';
import { lookAtDataDir, lookAtNode } from './machine';
import { lookAtRedis, type RedisLook } from './redis';
import { lookAtService } from './service';
import { lookAtSpool } from './spool';

export interface Examination extends DoctorOptions {
  readonly clock: Clock;
  /** That of the process when left out. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/**
 * Looks at the whole set-up, as far as each part can be looked at. Never rejects for anything that is wrong with it, and
 * leaves nothing open.
 */
export async function examine({ clock, environment, webhookUrl, adoptsDisk }: Examination): Promise<Finding[]> {
  const { findings, config, wrong } = lookAtConfiguration(environment);
  const resources = createResources(silentLog);
  try {
    const disk = wrong.includes('DATA_DIR') ? [] : await lookAtDataDir(config.dataDir, clock);
    const needsDisk = config.redis.url === null && !disk.some(({ state }) => state === 'fine' || state === 'warning');
    const isSkipped = wrong.includes('REDIS_URL') || needsDisk;
    const look = isSkipped ? REDIS_SKIPPED : await lookAtRedis(config, { clock, resources });
    const { redis } = look;
    const images = redis
      ? await lookAtSpool(redis, { dataDir: config.dataDir, clock, adoptsDisk })
      : notesOf('images').skipped('not_looked_at', 'Redis must be right first');
    const others = await Promise.all([
      lookAtService(config, { clock, redis, wrong }),
      lookAtReceiver(config, webhookUrl),
      lookAtConsole(environment),
    ]);
    return [...findings, lookAtNode(), ...disk, ...look.findings, images, ...others.flat()];
  } finally {
    await resources.closeAll();
  }
}

const REDIS_SKIPPED: RedisLook = {
  findings: [notesOf('redis').skipped('not_looked_at', 'REDIS_URL and DATA_DIR must be right first')],
  redis: null,
};
