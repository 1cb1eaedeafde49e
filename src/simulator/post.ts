import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

export interface Post {
  readonly url: string;
  /** With the content type. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** From the start to the status of the answer. */
  readonly timeoutMs: number;
}

/** Posts JSON over kept-alive connections. */
export class Poster {
  readonly #http = new HttpAgent({ keepAlive: true });
  readonly #https = new HttpsAgent({ keepAlive: true });

  /**
   * Resolves with the status; null without an answer in time, and for headers that cannot be sent. Does not follow
   * redirects and never rejects.
   */
  post(post: Post): Promise<number | null> {
    return this.#send(post).catch(() => null);
  }

  #send({ url, headers, body, timeoutMs }: Post): Promise<number | null> {
    return new Promise((resolve) => {
      if (!URL.canParse(url) || !/^https?:/i.test(url)) {
        resolve(null);
        return;
      }
      const target = new URL(url);
      const options = {
        method: 'POST',
        headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
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
      // With a string as body, Node encodes the headers as UTF-8 instead of Latin-1.
      request.end(Buffer.from(body));
    });
  }

  /** Closes every connection; running posts end without an answer. */
  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}
