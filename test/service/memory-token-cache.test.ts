import { createMemoryTokenCache } from '../../src/service';
import { tokenCacheConformance } from '../support/token-cache-conformance';

tokenCacheConformance('in memory', async () => {
  let nowMs = 1_000;
  const cache = createMemoryTokenCache({ monotonicMs: () => nowMs });
  return {
    view: () => cache,
    async passMs(ms) {
      nowMs += ms;
    },
    async end() {},
  };
});
