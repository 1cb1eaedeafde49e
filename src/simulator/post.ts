import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** From the start to the answer's status. */
  readonly timeoutMs: number;
}

/** Posts JSON over connections that are kept open. */
export class Poster {
  readonly #http = new HttpAgent({ keepAlive: true });
  readonly #https = new HttpsAgent({ keepAlive: true });

  /** The status answered; null when none came in time. Redirects are not followed. Never throws. */
  post({ url, headers, body, timeoutMs }: Post): Promise<number | null> {
    return new Promise((resolve) => {
      if (!URL.canParse(url) || !/^https?:/i.test(url)) {
        resolve(null);
        return;
      }
      const target = new URL(url);
      const options = {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) },
      };
      const request =
        target.protocol === 'https:'
          ? httpsRequest(target, { ...options, agent: this.#https })
          : httpRequest(target, { ...options, agent: this.#http });
      const deadline = setTimeout(() => request.destroy(), timeoutMs);
      request.on('response', (response) => {
        response.resume();
        response.on('error', () => {});
        resolve(response.statusCode ?? null);
      });
      request.on('error', () => resolve(null));
      request.on('close', () => {
        clearTimeout(deadline);
        resolve(null);
      });
      request.end(body);
    });
  }

  /** Cuts every connection; what is under way ends without an answer. */
  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}
