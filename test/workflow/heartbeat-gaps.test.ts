import { createHeartbeatGaps } from '../../src/workflow/ops/heartbeat';

const SILENT_AFTER_MS = 20_000;

function gaps() {
  let nowMs = 0;
  const own = createHeartbeatGaps({ monotonicMs: () => nowMs }, SILENT_AFTER_MS);
  const storesFor = (ms: number) => {
    for (let passedMs = 0; passedMs < ms; passedMs += 5000) {
      nowMs += 5000;
      own.stored();
    }
  };
  return { ...own, storesFor, pass: (ms: number) => (nowMs += ms) };
}

test('the other processes are known before the first heartbeat, and while heartbeats are stored', () => {
  const world = gaps();
  expect(world.areOthersKnown()).toBe(true);
  world.storesFor(60_000);
  expect(world.areOthersKnown()).toBe(true);
});

test.each([
  ['was not stored', (world: ReturnType<typeof gaps>) => world.missed()],
  ['is late, as after a freeze of the machine', (world: ReturnType<typeof gaps>) => world.pass(25_000)],
])('after a heartbeat that %s the others are known once heartbeats were stored for longer than silence', (_, gap) => {
  const world = gaps();
  world.storesFor(60_000);
  gap(world);
  expect(world.areOthersKnown()).toBe(false);
  world.stored();
  world.storesFor(SILENT_AFTER_MS);
  expect(world.areOthersKnown()).toBe(false);
  world.storesFor(5000);
  expect(world.areOthersKnown()).toBe(true);
});
