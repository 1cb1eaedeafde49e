import axios, { type AxiosRequestConfig } from 'axios';
import { errorCode } from '../platform/errors';

const TIMEOUT_MS = 10_000;

/** What came of a post. `problem` is a short code; null for any 2xx. */
export type PostAnswer =
  | { readonly problem: null; readonly httpStatus: number }
  | {
      readonly problem: string;
      /** Null: there was no answer. */
      readonly httpStatus: number | null;
      readonly headers: Readonly<Record<string, unknown>>;
    };

/** Posts JSON in 10 s. No redirect is followed, and nothing of the answer but its head is read. Never rejects. */
export async function postJson(
  url: string,
  body: string,
  {
    headers,
    ...agents
  }: Pick<AxiosRequestConfig, 'httpAgent' | 'httpsAgent'> & {
    readonly headers: Readonly<Record<string, string>> | null;
  },
): Promise<PostAnswer> {
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const answer = await axios.post<NodeJS.ReadableStream & { destroy(): void }>(url, body, {
      ...agents,
      headers: { 'content-type': 'application/json', 'user-agent': 'towhook', ...headers },
      // Without it the library reads HTTP_PROXY.
      proxy: false,
      maxRedirects: 0,
      responseType: 'stream',
      validateStatus: () => true,
      signal: limit,
    });
    answer.data.destroy();
    const { status: httpStatus } = answer;
    if (httpStatus >= 200 && httpStatus < 300) return { problem: null, httpStatus };
    return { problem: `http_${httpStatus}`, httpStatus, headers: answer.headers };
  } catch (error) {
    // Messages may contain the address; codes do not.
    const problem = limit.aborted ? 'timeout' : (errorCode(error) ?? 'not_sent');
    return { problem, httpStatus: null, headers: {} };
  }
}
