import { createServer } from 'node:http';
import { once } from 'node:events';
import { ROUTES } from '../../src/contracts/operator-routes';
import type { Actor } from '../../src/domain/audit';
import type { OperatorApi } from '../../src/workflow/operator-port';

/** A web page that passes its forms to the operator API in the same process and writes the HTTP response itself. */

export const TOKEN = 'token-of-the-page';
export const OWN = { token: TOKEN, send_once: 'a-key-of-the-page' };

export type Reported = Awaited<ReturnType<OperatorApi['form']>>;

export interface FormPage {
  readonly url: string;
  /** The API's result for each form, in order; `rejected` where its promise was rejected. */
  readonly results: (Reported | 'rejected')[];
  stop(): Promise<void>;
}

/** Starts the page. It responds 200 with the API's result, and 503 when the API rejects. */
export async function startFormPage(api: OperatorApi, actor: Actor): Promise<FormPage> {
  const results: (Reported | 'rejected')[] = [];
  const server = createServer((request, response) => {
    const form = api.form(ROUTES.reportViolation, {
      actor,
      request,
      ownFields: Object.keys(OWN),
      admits: ({ token }) => token === TOKEN,
      idempotencyField: 'send_once',
    });
    const respond = (status: number, result: Reported | 'rejected') => {
      results.push(result);
      const body = Buffer.from(JSON.stringify(result));
      const headers = { 'content-type': 'application/json', 'content-length': body.length };
      response.writeHead(status, headers).end(body);
    };
    form.then(
      (result) => respond(200, result),
      () => respond(503, 'rejected'),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the page has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    results,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
