import type { ChainableCommander } from 'ioredis';

/**
 * The replies of a pipeline, for the conservation check, which meets keys as they are: undefined for a
 * command whose key holds another type. Any other failure rejects.
 */
export async function repliesOf(chain: ChainableCommander): Promise<unknown[]> {
  const replies = (await chain.exec()) ?? [];
  return replies.map(([error, reply]) => {
    if (error && !error.message.startsWith('WRONGTYPE')) throw error;
    return error ? undefined : reply;
  });
}

/** A score as a timestamp, ms; null when there is none. */
export function momentOf(score: unknown): number | null {
  return score === null || score === undefined ? null : Number(score);
}
