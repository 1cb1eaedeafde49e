import type { DoctorOptions, Finding } from '../cli';
import type { Clock } from '../platform/clock';
import { silentLog } from '../platform/log/log';
import { createResources } from '../platform/resources';
import { within } from '../platform/timers';
import type { Environment } from '../platform/config/variable-rules';
import type { Redis } from '../store/redis/connect';
import { checkConfiguration, variableFaults } from './configuration';
import { inTime, notesOf, UNTRUSTED } from './finding';
import { checkConsole, checkReceiver } from './listeners';
import { checkDataDir, checkNode } from './machine';
import { checkRedis } from './redis';
import { checkService } from './service';
import { checkSpool } from './machine';
import { checkFirstWebhook, checkTestCall } from './listeners';
import { checkMode, checkWorkers } from './workers';
import { discoverProvider, providerFailureReason, signOutAddressOf } from '../oidc';
import { ConfigurationError, type Config } from '../platform/config/config';
import type { OidcSettings } from '../platform/config/sign-in-variables';
import { openProviderAgents } from '../service/outbound';

export interface Examination extends DoctorOptions {
  readonly clock: Clock;
  /** The environment to examine; that of the process by default. */
  readonly environment?: Environment;
}

/**
 * Examines the whole installation with a time limit per check. Never rejects. A check that hangs stays open, so the
 * caller ends the process.
 */
export async function examine({ clock, environment, ...options }: Examination): Promise<Finding[]> {
  const { webhookUrl, adoptsDisk, probes, testsWebhook } = options;
  const { findings, config, wrong } = checkConfiguration(environment);
  const resources = createResources(silentLog);
  const isWrong = (name: string) => wrong.some((variable) => variable.startsWith(name));
  try {
    const disk = isWrong('DATA_DIR') ? [] : await inTime('disk', LIMIT_MS, checkDataDir(config.dataDir, clock));
    const isDiskRight = disk.some(({ state }) => state === 'fine' || state === 'warning');
    let redis: Redis | null = null;
    const lookAtRedis = async () => {
      const look = await checkRedis(config, { clock, resources });
      ({ redis } = look);
      return look.findings;
    };
    const inRedis = (check: string, look: (opened: Redis) => Promise<Finding>) =>
      redis === null
        ? Promise.resolve([notesOf(check).skipped('not_looked_at', 'Redis must be right first')])
        : inTime(check, LIMIT_MS, look(redis));
    const redisFindings =
      isWrong('REDIS_') || (config.redis.url === null && !isDiskRight)
        ? [REDIS_SKIPPED]
        : await inTime('redis', config.redis.url === null ? EMBEDDED_LIMIT_MS : LIMIT_MS, lookAtRedis());
    const images = await inRedis('images', (opened) =>
      checkSpool(opened, {
        dataDir: config.dataDir,
        keepMs: config.keep.violationsMs,
        minFreeBytes: config.images.totalBytesMax,
        clock,
        adoptsDisk,
      }),
    );
    // Its calls have a time limit of their own, which may be longer: a token, and two for each probed operation.
    const serviceLimitMs = 3 * config.service.timeoutMs + LIMIT_MS;
    const others = await Promise.all([
      inTime('service', serviceLimitMs, checkService(config, { clock, redis, wrong, probes })),
      inRedis('mode', (opened) => checkMode(opened, config.service.mode)),
      inRedis('worker', checkWorkers),
      inTime('receiver', 2 * LIMIT_MS, checkReceiver(config, webhookUrl)),
      inTime('console', LIMIT_MS, checkConsole(environment)),
      inTime('sign-in', 2 * LIMIT_MS, checkSignIn(config)),
      ...(testsWebhook
        ? [
            inTime('webhook test', 2 * LIMIT_MS, checkTestCall(config, webhookUrl, clock)),
            inRedis('first webhook', checkFirstWebhook),
          ]
        : []),
    ]);
    return [...findings, checkNode(), ...disk, ...redisFindings, ...images, ...others.flat()];
  } finally {
    await within(LIMIT_MS, resources.closeAll());
  }
}

const LIMIT_MS = 10_000;
/** The embedded Redis may have to load its data, or to be downloaded first. */
const EMBEDDED_LIMIT_MS = 60_000;

const REDIS_SKIPPED = notesOf('redis').skipped(
  'not_looked_at',
  'the variables of Redis and DATA_DIR must be right first',
);

const notes = notesOf('sign-in');

/** Reads the discovery document of the identity provider; nothing without one. */
async function checkSignIn({ signIn: { oidc } }: Config): Promise<Finding[]> {
  if (oidc === null) return [];
  try {
    const agents = openProviderAgents(oidc.outbound);
    const signsOut = signOutAddressOf(await discoverProvider(oidc, agents), oidc) !== null;
    const after = signsOut ? `, and ${oidc.signedOutUrl} after a sign-out` : '';
    const what = `the identity provider answers; its client must allow the redirect address ${oidc.redirectUrl}${after}`;
    return [notes.fine('provider_right', what)];
  } catch (error) {
    return error instanceof ConfigurationError ? variableFaults(error) : [faultOf(providerFailureReason(error), oidc)];
  }
}

function faultOf(reason: string, { issuer }: OidcSettings): Finding {
  if (reason === 'issuer_differs') {
    const what = `the discovery document of ${issuer} names another issuer`;
    return notes.fault('provider_issuer_wrong', what, 'Set OIDC_ISSUER to the "issuer" of that document.');
  }
  const what = `the identity provider cannot be used: ${reason.replaceAll('_', ' ')}; people cannot sign in through it`;
  if (UNTRUSTED.test(reason)) {
    const fix = 'Set OIDC_CA_FILE to a PEM file with the certificate of its authority.';
    return notes.fault('provider_certificate_untrusted', what, fix);
  }
  const fix = `Check OIDC_ISSUER: ${issuer}/.well-known/openid-configuration must answer; firewalls, and OIDC_PROXY_URL.`;
  return notes.fault('provider_unreachable', what, fix);
}
