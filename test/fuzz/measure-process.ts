import { createServer, type AddressInfo, type Socket } from 'node:net';
import { z } from 'zod';
import { compiledFile } from '../support/compiled';

/** The measurements of the probe since the last question. */
const measured = z.object({
  /** The longest time in which the process ran and served no timer. */
  blockedMs: z.number(),
  /** The garbage collection within it. */
  collectedMs: z.number(),
  heapBytes: z.number(),
  rssBytes: z.number(),
});
export type Measured = z.output<typeof measured>;

/** Asks the probe of one process. */
export interface ProcessMeter {
  /** Variables for the environment of the process. */
  readonly environment: Readonly<Record<string, string>>;
  /** Measures since the last question; with `collect` after a garbage collection. Rejects when the process has ended. */
  look(question?: 'look' | 'collect'): Promise<Measured>;
  stop(): void;
}

const ANSWERS_WITHIN_MS = 60_000;

/** Waits for the probe of a process that is started with this environment. */
export async function startProcessMeter(): Promise<ProcessMeter> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const connected = new Promise<Socket>((resolve) => server.once('connection', resolve));
  connected.then(
    (socket) => socket.on('error', () => {}),
    () => {},
  );
  let turn: Promise<unknown> = Promise.resolve();
  const ask = async (question: string): Promise<Measured> => {
    const socket = await connected;
    const line = await new Promise<string>((resolve, reject) => {
      let text = '';
      const settle = (end: () => void) => {
        clearTimeout(limit);
        socket.off('data', onData).off('close', onClose);
        end();
      };
      const onData = (chunk: Buffer) => {
        text += chunk.toString();
        if (text.endsWith('\n')) settle(() => resolve(text));
      };
      const onClose = () => settle(() => reject(new Error('the process under test is gone')));
      const limit = setTimeout(
        () => settle(() => reject(new Error(`the process under test did not answer in ${ANSWERS_WITHIN_MS} ms`))),
        ANSWERS_WITHIN_MS,
      );
      socket.on('data', onData).once('close', onClose);
      if (socket.destroyed) onClose();
      else socket.write(question);
    });
    return measured.parse(JSON.parse(line));
  };
  return {
    environment: {
      NODE_OPTIONS: `--require ${JSON.stringify(compiledFile('test/fuzz/probe.ts'))}`,
      FUZZ_PROBE_PORT: String(portOf(server.address())),
    },
    look(question = 'look') {
      const answer = turn.then(() => ask(question));
      turn = answer.catch(() => {});
      return answer;
    },
    stop() {
      void connected.then((socket) => socket.destroy());
      server.close();
    },
  };
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the process meter has no port');
  return address.port;
}
