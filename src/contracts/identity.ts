import { z } from 'zod';

/** What the console reads of an OpenID Connect provider, and what it keeps in the browser meanwhile. */

const httpUrl = z.url({ protocol: /^https?$/ });

/** The parts of a discovery document that a sign-in needs. */
export const discoveryDocument = z.looseObject({
  issuer: z.string(),
  authorization_endpoint: httpUrl,
  token_endpoint: httpUrl,
  jwks_uri: httpUrl,
  /** Where a browser ends the session at the provider. Many providers have none. */
  end_session_endpoint: httpUrl.optional().catch(undefined),
  id_token_signing_alg_values_supported: z.array(z.string()).optional(),
});

/** Claims of an ID token. Which of the others names the role is configured. */
export const idTokenClaims = z.looseObject({
  sub: z.string().regex(/^\P{Cc}{1,255}$/u),
  name: z.string().optional().catch(undefined),
  preferred_username: z.string().optional().catch(undefined),
  email: z.string().optional().catch(undefined),
});
export type IdTokenClaims = z.output<typeof idTokenClaims>;

/** A sign-in that a browser has begun. */
export const signInTicket = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** The path that the sign-in leads back to. */
  next: z.string(),
  /** Unix ms. */
  begunAtMs: z.number(),
});
export type SignInTicket = z.output<typeof signInTicket>;
