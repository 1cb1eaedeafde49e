import type { DoctorOptions, Finding } from '../cli';
import type { Clock } from '../platform/clock';
import { silentLog } from '../platform/log/log';
import { createResources } from '../platform/resources';
import { within } from '../platform/timers';
import type { Environment } from '../platform/config/variable-rules';
import type { Redis } from '../store/redis/connect';
import { checkConfiguration, variableFaults } from './configuration';
import { withinLimit, notesOf, UNTRUSTED } from './finding';
import { checkConsole, checkReceiver } from './listeners';
import { checkDataDir, checkNode } from './machine';
import { checkRedis, type RedisCheck } from './redis';
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
  const one = (check: string, look: Promise<Finding>, limitMs = LIMIT_MS) =>
    withinLimit(check, { limitMs, look, otherwise: (fault) => fault });
  const many = (check: string, look: Promise<Finding[]>, limitMs = LIMIT_MS) =>
    withinLimit(check, { limitMs, look, otherwise: (fault) => [fault] });
  try {
    const disk = wrong.includes('DATA_DIR') ? [] : await many('disk', checkDataDir(config.dataDir, clock));
    const needsDisk = config.redis.url === null && !disk.some(({ state }) => state === 'fine' || state === 'warning');
    const look =
      wrong.some((variable) => variable.startsWith('REDIS_')) || needsDisk
        ? REDIS_SKIPPED
        : await withinLimit('redis', {
            limitMs: config.redis.url === null ? EMBEDDED_LIMIT_MS : LIMIT_MS,
            look: checkRedis(config, { clock, resources }),
            otherwise: (fault): RedisCheck => ({ findings: [fault], redis: null }),
          });
    const { redis } = look;
    const inRedis = (check: string, look: (opened: Redis) => Promise<Finding>) =>
      redis
        ? one(check, look(redis))
        : Promise.resolve(notesOf(check).skipped('not_looked_at', 'Redis must be right first'));
    const images = await inRedis('images', (opened) =>
      checkSpool(opened, {
        dataDir: config.dataDir,
        keepMs: config.keep.violationsMs,
        minFreeBytes: config.images.totalBytesMax,
        clock,
        adoptsDisk,
      }),
    );
    const others = await Promise.all([
      // Its calls have a time limit of their own, which may be longer: a token, and two for each probed operation.
      many('service', checkService(config, { clock, redis, wrong, probes }), 3 * config.service.timeoutMs + LIMIT_MS),
      inRedis('mode', (opened) => checkMode(opened, config.service.mode)),
      inRedis('worker', checkWorkers),
      one('receiver', checkReceiver(config, webhookUrl), 2 * LIMIT_MS),
      one('console', checkConsole(environment)),
      many('sign-in', checkSignIn(config), 2 * LIMIT_MS),
      ...(testsWebhook
        ? [
            one('webhook test', checkTestCall(config, webhookUrl, clock), 2 * LIMIT_MS),
            inRedis('first webhook', checkFirstWebhook),
          ]
        : []),
    ]);
    return [...findings, checkNode(), ...disk, ...look.findings, images, ...others.flat()];
  } finally {
    await within(LIMIT_MS, resources.closeAll());
  }
}

const LIMIT_MS = 10_000;
/** The embedded Redis may have to load its data, or to be downloaded first. */
const EMBEDDED_LIMIT_MS = 60_000;

const REDIS_SKIPPED: RedisCheck = {
  findings: [notesOf('redis').skipped('not_looked_at', 'the variables of Redis and DATA_DIR must be right first')],
  redis: null,
};

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
