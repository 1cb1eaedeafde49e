import express, { type RequestHandler } from 'express';
import type { Clock } from '../platform/clock';
import { sourceOf } from '../platform/connections';
import type { Log } from '../platform/log/log';
import { throttledLog } from '../platform/log/log-throttle';
import type { FormRefusal, Metrics } from '../platform/log/metrics';
import type { SourceLimit } from '../workflow/operator-port';
import type { HttpExchange } from './requests';

/** Fits the refresh of a board: 50 references of 200 characters, percent-encoded. */
const FORM_BYTES_MAX = 200_000;
/** The rest of a form without a session only lets the person copy what was entered. Texts have 1,000 characters. */
const STRANGE_FORM_BYTES_MAX = 50_000;
/** The largest forms have about 75: 50 rows of a board, or 25 tasks of which all are ticked. */
const FIELDS_MAX = 100;

/** Reads forms without files into `request.body`, as text. Rejects with an error that has a `status`. */
export interface PageFormReader {
  /** Reads a form of a signed-in user. */
  read(exchange: HttpExchange, bytesMax?: number): Promise<void>;
  /** Reads a form without a session, unless its source has sent too many. */
  readOfStranger(exchange: HttpExchange): Promise<void>;
  /** Counts a form without a session. Returns null, or the ms to wait if its source has sent too many. */
  countOfStranger(exchange: HttpExchange): Promise<number | null>;
}

export interface PageFormTools {
  /** Of the forms without a session that this process reads. */
  readonly formLimit: SourceLimit;
  readonly metrics: Pick<Metrics, 'formRefused'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Why a form was not read. */
class PageFormRefused extends Error {
  constructor(readonly status: 413 | 429) {
    super(status === 413 ? 'the form has too many fields' : 'the source has sent too many forms without a session');
  }
}

export function createPageFormReader({ formLimit, metrics, ...tools }: PageFormTools): PageFormReader {
  const log = throttledLog(tools.log, { clock: tools.clock, by: ['reason', 'source'] });
  const refused = ({ request }: HttpExchange, reason: FormRefusal) => {
    metrics.formRefused(reason);
    log.warn('console.form_refused', { reason, source: sourceOf(request.ip) });
  };
  const countOfStranger = async (exchange: HttpExchange) => {
    const waitMs = await formLimit.count(sourceOf(exchange.request.ip));
    if (waitMs !== null) refused(exchange, 'too_many');
    return waitMs;
  };
  const read = async (exchange: HttpExchange, bytesMax = FORM_BYTES_MAX) => {
    const { request } = exchange;
    try {
      await run(
        express.text({ type: 'application/x-www-form-urlencoded', limit: bytesMax, defaultCharset: 'utf-8' }),
        exchange,
      );
      const body: unknown = request.body;
      if (typeof body !== 'string' || hasFewFields(body)) return;
      request.body = undefined;
      throw new PageFormRefused(413);
    } catch (error) {
      if (error instanceof Error && 'status' in error && error.status === 413) refused(exchange, 'too_large');
      throw error;
    }
  };
  return {
    read,
    countOfStranger,
    async readOfStranger(exchange) {
      const waitMs = await countOfStranger(exchange);
      if (waitMs !== null) {
        exchange.response.set('retry-after', String(Math.ceil(waitMs / 1000)));
        throw new PageFormRefused(429);
      }
      await read(exchange, STRANGE_FORM_BYTES_MAX);
    },
  };
}

/** Whether a form, or one that another carries as a field, has at most as many fields as a page sends. */
export function hasFewFields(form: string): boolean {
  let fields = 1;
  for (let at = form.indexOf('&'); at !== -1 && fields <= FIELDS_MAX; at = form.indexOf('&', at + 1)) fields += 1;
  return fields <= FIELDS_MAX;
}

async function run(step: RequestHandler, { request, response }: HttpExchange): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    void step(request, response, (error: unknown) => {
      if (error === undefined) resolve();
      else reject(error instanceof Error ? error : new Error('the form cannot be read'));
    });
  });
}
