import type { IncomingMessage } from 'node:http';
import type { Log } from '../log/log';

/** A middleware; `ip` is the address of the client as the application knows it. */
export type ProxyNote = (
  request: IncomingMessage & { readonly ip?: string | undefined },
  response: unknown,
  next: () => void,
) => void;

/**
 * A middleware for all listeners of a process. Logs once that a request came through a proxy that is not trusted: all its
 * clients then count as one source. Logs no value of a header.
 */
export function createProxyNote(log: Log): ProxyNote {
  let isNoted = false;
  return (request, _response, next) => {
    const peer = request.socket.remoteAddress;
    // The address of a request from a trusted peer is the one in the header.
    if (!isNoted && request.headers['x-forwarded-for'] !== undefined && request.ip === peer) {
      isNoted = true;
      log.warn('proxy.untrusted', { peer, variable: 'TRUST_PROXY', problem: PROBLEM });
    }
    next();
  };
}

const PROBLEM =
  'a request has X-Forwarded-For, and TRUST_PROXY does not name the address it came from: if that is your proxy, name it, because all its clients count as one source until then';
