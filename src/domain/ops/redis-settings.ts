/** The settings and the role of Redis on which the promise depends that nothing acknowledged is lost. */
export const REDIS_SETTINGS = [
  'role',
  'appendonly',
  'appendfsync',
  'no-appendfsync-on-rewrite',
  'maxmemory-policy',
] as const;
export type RedisSetting = (typeof REDIS_SETTINGS)[number];

/** A setting that can lose acknowledged data. */
export interface RedisFault {
  readonly setting: RedisSetting;
  readonly problem: string;
}

/** These lose the last writes alone, at a power failure. */
const SYNC_SETTINGS: ReadonlySet<RedisSetting> = new Set(['appendfsync', 'no-appendfsync-on-rewrite']);

/** True for a fault that raises an alarm. A late sync is a warning, unless REDIS_STRICT makes it a fault. */
export function isSevere(
  { setting }: Pick<RedisFault, 'setting'>,
  { isStrict }: { readonly isStrict: boolean },
): boolean {
  return isStrict || !SYNC_SETTINGS.has(setting);
}
