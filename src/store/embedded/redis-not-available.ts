import { platform } from 'node:os';

/** One way of coming by a Redis server that was tried, and why it gave none. */
export interface Attempt {
  readonly tried: string;
  readonly problem: string;
}

/**
 * No Redis server can be had on this machine. The message is for the person at the terminal: what was tried, and what
 * to do, the line for their own system first.
 */
export class RedisNotAvailable extends Error {
  override readonly name = 'RedisNotAvailable';

  constructor(readonly attempts: readonly Attempt[]) {
    super(
      [
        'No Redis server can be had on this machine.',
        'Tried:',
        ...attempts.map(({ tried, problem }) => `  - ${tried}: ${problem}`),
        'Do one of these, then start again:',
        ...remedies().map((remedy) => `  - ${remedy}`),
      ].join('\n'),
    );
  }
}

function remedies(): readonly string[] {
  const apt = 'Debian, Ubuntu: apt-get install redis-server';
  const brew = 'macOS: brew install redis';
  const apk = 'Alpine: apk add redis';
  const anywhere = [
    'with Docker: docker run -d -p 127.0.0.1:6379:6379 redis:8-alpine --appendonly yes --maxmemory-policy noeviction, ' +
      'and set REDIS_URL=redis://127.0.0.1:6379',
    'set REDIS_URL to a Redis you have, or REDIS_SERVER_BIN to a redis-server binary',
  ];
  return platform() === 'darwin' ? [brew, apt, apk, ...anywhere] : [apt, apk, brew, ...anywhere];
}
