import { systemClock } from '../../src/platform/clock';
import { BoundedList, BoundedMap } from '../../src/simulator/bounded';
import { CallLog, type SimulatedCall } from '../../src/simulator/calls';
import { newReference } from '../../src/simulator/references';

test('a bounded list keeps the last items in order', () => {
  const list = new BoundedList<number>(3);
  for (const item of [1, 2, 3, 4, 5]) list.push(item);

  expect(list.values()).toEqual([3, 4, 5]);
  list.clear();
  list.push(6);
  expect(list.values()).toEqual([6]);
});

test('a bounded map drops its oldest key, and writing a key again does not make it newer', () => {
  const map = new BoundedMap<number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  map.set('c', 4);

  expect([map.get('a'), map.get('b'), map.get('c'), map.size]).toEqual([undefined, 2, 4, 2]);
});

test('the call log keeps the last 200,000 calls', () => {
  const log = new CallLog();
  for (let count = 0; count < 200_002; count += 1) {
    const call: SimulatedCall = {
      at: '',
      operation: 'token',
      method: 'POST',
      path: String(count),
      headers: {},
      body: null,
      status: 200,
      effect: true,
      fault: null,
    };
    log.open(call).close();
  }
  const texts = log.texts(null);

  expect(log.size).toBe(200_000);
  expect(JSON.parse(texts[0] ?? '')).toMatchObject({ path: '2' });
  expect(JSON.parse(texts.at(-1) ?? '')).toMatchObject({ path: '200001' });
});

test('generates distinct references even when the random numbers repeat', () => {
  const clock = { ...systemClock, nowMs: () => Date.UTC(2026, 2, 1, 23, 59), random: () => 0.999_999_999_9 };
  const taken = new Set<string>();
  for (let count = 0; count < 3; count += 1) {
    taken.add(newReference('TW', { clock, form: 'text', isTaken: (reference) => taken.has(reference) }));
  }

  expect([...taken]).toEqual(['TW-20260301-ZZZZZZ', 'TW-20260301-000000', 'TW-20260301-000001']);
});
