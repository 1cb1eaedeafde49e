import type { DoctorOptions, Finding } from '../../cli';
import type { Clock } from '../../platform/clock';
import { silentLog } from '../../platform/log';
import { createResources } from '../../platform/resources';
import { within } from '../../platform/within';
import { lookAtConfiguration } from './configuration';
import { inTime, notesOf } from './finding';
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
 * Looks at the whole set-up, as far as each part can be looked at, and at none of them for ever. Never rejects for
 * anything that is wrong with it. Leaves nothing open but what hangs: whoever asked ends the process.
 */
export async function examine({ clock, environment, webhookUrl, adoptsDisk }: Examination): Promise<Finding[]> {
  const { findings, config, wrong } = lookAtConfiguration(environment);
  const resources = createResources(silentLog);
  const one = (check: string, look: Promise<Finding>, limitMs = LIMIT_MS) =>
    inTime(check, { limitMs, look, otherwise: (fault) => fault });
  const many = (check: string, look: Promise<Finding[]>, limitMs = LIMIT_MS) =>
    inTime(check, { limitMs, look, otherwise: (fault) => [fault] });
  try {
    const disk = wrong.includes('DATA_DIR') ? [] : await many('disk', lookAtDataDir(config.dataDir, clock));
    const needsDisk = config.redis.url === null && !disk.some(({ state }) => state === 'fine' || state === 'warning');
    const look =
      wrong.includes('REDIS_URL') || needsDisk
        ? REDIS_SKIPPED
        : await inTime('redis', {
            limitMs: config.redis.url === null ? EMBEDDED_LIMIT_MS : LIMIT_MS,
            look: lookAtRedis(config, { clock, resources }),
            otherwise: (fault): RedisLook => ({ findings: [fault], redis: null }),
          });
    const { redis } = look;
    const images = redis
      ? await one(
          'images',
          lookAtSpool(redis, { dataDir: config.dataDir, keepMs: config.keep.violationsMs, clock, adoptsDisk }),
        )
      : notesOf('images').skipped('not_looked_at', 'Redis must be right first');
    const others = await Promise.all([
      // It has a time limit of its own, which may be longer.
      many('service', lookAtService(config, { clock, redis, wrong }), config.service.timeoutMs + LIMIT_MS),
      one('receiver', lookAtReceiver(config, webhookUrl), 2 * LIMIT_MS),
      one('console', lookAtConsole(environment)),
    ]);
    return [...findings, lookAtNode(), ...disk, ...look.findings, images, ...others.flat()];
  } finally {
    await within(LIMIT_MS, resources.closeAll());
  }
}

const LIMIT_MS = 10_000;
/** The embedded Redis may have to read back what it holds, or to be fetched first. */
const EMBEDDED_LIMIT_MS = 60_000;

const REDIS_SKIPPED: RedisLook = {
  findings: [notesOf('redis').skipped('not_looked_at', 'REDIS_URL and DATA_DIR must be right first')],
  redis: null,
};
