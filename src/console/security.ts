import type { RequestHandler } from 'express';
import helmet from 'helmet';

/** Pages run nothing and load nothing that does not come from us, send forms to us alone, and stand in nobody's frame. */
export function pageSecurity(): RequestHandler {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", 'blob:'],
        fontSrc: ["'self'"],
        connectSrc: ["'self'"],
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    // The preferences lead back to the page they were changed on.
    referrerPolicy: { policy: 'same-origin' },
    // Whether the console is reached over TLS is not ours to promise.
    strictTransportSecurity: false,
  });
}
