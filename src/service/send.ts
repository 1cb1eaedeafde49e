import { Axios, type AxiosResponse } from 'axios';
import type { Operation } from '../contracts/operations';
import type { ServiceAddress } from './address';
import type { AttemptPlan } from './attempt';
import type { EncodedRequest } from './encode';
import type { Outcome } from './exchange';
import { createTransport, type Received } from './transport';
import { TransportFailure } from './transport-failure';

/** The headers that say who sends: a bearer token, or the credentials. */
export type Authorization = Readonly<Record<string, string>>;

/** Sends one encoded request and says how it ended. */
export interface Sender {
  send(
    request: EncodedRequest,
    options: {
      readonly operation: Operation;
      readonly authorization: Authorization;
      readonly permission: AttemptPlan['permission'];
    },
  ): Promise<Outcome>;
  /** Destroys all connections. */
  close(): void;
}

/** One client for one service; axios configured to add nothing of its own to what goes over the wire. */
export function createSender(settings: {
  readonly address: ServiceAddress;
  readonly timeoutMs: number;
  readonly userAgent: string;
}): Sender {
  const transport = createTransport(settings);
  // The bare class instead of the ready-made instance: that one adds headers of its own to every call and spends more
  // time on merging defaults nobody asked for than the call itself takes.
  const client = new Axios({
    maxRedirects: 0,
    proxy: false,
    // Bodies come encoded and answers are read as text: their contract is not axios's to guess.
    transformRequest: [],
    transformResponse: [],
  });
  const ownHeaders = { Accept: 'application/json', 'User-Agent': settings.userAgent };

  return {
    async send(request, { operation, authorization, permission }) {
      // A server may close an idle connection just as we write into it, and then nobody can tell whether the call was
      // acted on. For a call that may be repeated that is an unanswered attempt like any other; one that may not be
      // repeated must never get into that place. The token call opens its own connection too: it is so rare that an
      // idle one would mostly be closed.
      const freshConnection = !operation.safeToRepeat || operation.encoding === 'credentials';
      try {
        const content = await request.open();
        return arrived(
          await client.request<Received>({
            method: request.method,
            url: request.path,
            data: content.data,
            headers: { ...ownHeaders, ...content.headers, ...authorization },
            adapter: (config) => transport.send(config, { freshConnection, permission }),
          }),
        );
      } catch (error) {
        if (error instanceof TransportFailure) return error;
        throw error;
      }
    },
    close: () => transport.close(),
  };
}

function arrived(response: AxiosResponse<Received>): Outcome {
  const header = (name: string) => {
    const value: unknown = response.headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    status: response.status,
    received: response.data,
    contentType: header('content-type'),
    retryAfter: header('retry-after'),
    rateLimitReset: header('x-ratelimit-reset'),
  };
}
