import * as fc from 'fast-check';
import { createLogOutput } from '../../src/platform/log/log-output';
import { eventually } from '../support/eventually';

/** How much of a write the reader takes; `full` and `gone` are the errors of a pipe. */
type Taken = number | 'full' | 'gone';

/** An output whose reader takes of each write what `taken` allows, and everything once it is used up. */
function outputTo(taken: readonly Taken[] = []) {
  const writes: string[] = [];
  const left = [...taken];
  const output = createLogOutput({
    droppedLine: (count) => `dropped ${count}\n`,
    write(bytes) {
      const share = left.shift() ?? bytes.length;
      if (typeof share === 'string') {
        throw Object.assign(new Error(share), { code: share === 'full' ? 'EAGAIN' : 'EPIPE' });
      }
      const part = bytes.subarray(0, share);
      writes.push(Buffer.from(part).toString('latin1'));
      return part.length;
    },
  });
  const received = () => Buffer.from(writes.join(''), 'latin1').toString();
  return { ...output, writes, received, add: (line: string) => void output.stream.write(`${line}\n`) };
}

test('log output writes the lines of one turn of the event loop in one write', async () => {
  const { add, writes } = outputTo();
  add('one');
  add('two');
  expect(writes).toEqual([]);

  await eventually(() => expect(writes).toEqual(['one\ntwo\n']));
  add('three');
  await eventually(() => expect(writes).toEqual(['one\ntwo\n', 'three\n']));
});

test('log output writes whole lines in pieces of up to 4096 bytes', () => {
  const { add, writes, flush } = outputTo();
  const lines = Array.from({ length: 100 }, (_, index) => `${index} ${'م'.repeat(50)}`);
  for (const line of lines) add(line);
  add('x'.repeat(10_000));
  flush();

  expect(writes.length).toBeLessThan(lines.length);
  for (const write of writes) expect(write.endsWith('\n')).toBe(true);
  for (const write of writes.slice(0, -1)) expect(write.length).toBeLessThanOrEqual(4096);
});

test('log output writes every byte once and in order however little the reader takes', async () => {
  const taken = fc.array(fc.oneof(fc.nat({ max: 20 }), fc.constant('full' as const)), { maxLength: 30 });
  const lines = fc.array(fc.string({ unit: 'grapheme', maxLength: 2000 }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(taken, lines, async (shares, texts) => {
      const { add, flush, received } = outputTo(shares);
      for (const text of texts) {
        add(text);
        flush();
      }
      await eventually(() => expect(flush()).toBe(true));
      expect(received()).toBe(texts.map((text) => `${text.toWellFormed()}\n`).join(''));
    }),
    { numRuns: 50 },
  );
});

test('log output tries again by itself after the reader was full', async () => {
  const { add, received } = outputTo(['full', 'full', 2]);
  add('one');
  await eventually(() => expect(received()).toBe('one\n'));
});

test('log output drops lines beyond 16 MiB and then tells how many', async () => {
  const { add, received } = outputTo(['full']);
  const line = 'x'.repeat(1024 * 1024 - 1);
  for (let index = 0; index < 20; index += 1) add(line);
  await eventually(() => expect(received().endsWith('dropped 4\n')).toBe(true));

  expect(received()).toHaveLength(16 * 1024 * 1024 + 'dropped 4\n'.length);
});

test('log output loses lines for a reader that is gone and goes on', () => {
  const { add, flush, received } = outputTo(['gone']);
  add('one');
  expect(flush()).toBe(true);
  add('two');
  flush();

  expect(received()).toBe('two\n');
});

test('a drained log output waits for the reader and writes later lines at once', () => {
  const { add, drain, received } = outputTo(['full', 1, 'full']);
  add('one');
  drain(20_000);
  expect(received()).toBe('one\n');
  add('two');
  expect(received()).toBe('one\ntwo\n');
});

test('a drained log output stops waiting for a reader that takes nothing', () => {
  const { add, drain, received } = outputTo(Array.from({ length: 1000 }, () => 'full' as const));
  add('one');
  drain(30);
  expect(received()).toBe('');
});
