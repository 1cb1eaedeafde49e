import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen, type Application, type Health, type Listener } from '../../src/platform/http';

/** Listeners of a test on free ports, and calls to them. */

export const ready: Health = { ready: async () => ({ ready: true, details: {} }) };

const started: Listener[] = [];

export async function listening(application: Application | null, health: Health = ready): Promise<Listener> {
  const listener = await listen(application, health, { host: '127.0.0.1', port: 0 });
  started.push(listener);
  return listener;
}

/** Stops what a test left running. */
export async function stopListeners(): Promise<void> {
  await Promise.all(started.splice(0).map((listener) => listener.stop(0)));
}

export interface ListenerAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers: IncomingMessage['headers'];
}

/** One call; rejects when the connection ends before the answer does. */
export function call(
  url: string,
  options: { method?: string; agent?: Agent; body?: string; headers?: Record<string, string> } = {},
): Promise<ListenerAnswer> {
  const { method = 'GET', agent = new Agent({ keepAlive: false }), body, headers = {} } = options;
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, agent, headers }, (response) => {
      text(response).then(
        (received) => resolve({ status: response.statusCode ?? 0, body: received, headers: response.headers }),
        reject,
      );
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** A promise and the two ways to settle it. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
