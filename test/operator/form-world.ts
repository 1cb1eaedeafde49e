import { createServer } from 'node:http';
import { once } from 'node:events';
import { ROUTES } from '../../src/contracts/operator-routes';
import type { Actor } from '../../src/domain/audit';
import type { OperatorApi } from '../../src/workflow/operator-port';

/** A page that hands its forms to the API in its own process, and answers them itself. */

export const TOKEN = 'token-of-the-page';
export const OWN = { token: TOKEN, send_once: 'a-key-of-the-page' };

export type Reported = Awaited<ReturnType<OperatorApi['form']>>;

export interface FormPage {
  readonly url: string;
  /** What the API said to each form, in turn; `rejected` where it could not say. */
  readonly said: (Reported | 'rejected')[];
  stop(): Promise<void>;
}

/** Starts the page. It answers 200 with what the API said, and 503 where it could not say. */
export async function startFormPage(api: OperatorApi, actor: Actor): Promise<FormPage> {
  const said: (Reported | 'rejected')[] = [];
  const server = createServer((request, response) => {
    const form = api.form(ROUTES.reportViolation, {
      actor,
      request,
      ownFields: Object.keys(OWN),
      admits: ({ token }) => token === TOKEN,
      idempotencyField: 'send_once',
    });
    const answer = (status: number, one: Reported | 'rejected') => {
      said.push(one);
      const body = Buffer.from(JSON.stringify(one));
      const headers = { 'content-type': 'application/json', 'content-length': body.length };
      response.writeHead(status, headers).end(body);
    };
    form.then(
      (one) => answer(200, one),
      () => answer(503, 'rejected'),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the page has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    said,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
