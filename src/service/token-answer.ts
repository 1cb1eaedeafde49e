import type { AnswerOf } from '../contracts/service/operations';
import { accessToken } from '../contracts/service/service';
import { isFields, type JsonFields } from './coerce';
import { brokenEnvelope, type AnswerBody, type Reading } from './read-answer';

/** A token as it is sent, without the scheme; `expires_in` is its lifetime in seconds, if the answer has one. */
export type TokenData = AnswerOf<'token'>;

const TOKEN_NAMES = ['token', 'access_token', 'accessToken'] as const;
const LIFETIME_NAMES = ['expires_in', 'expiresIn'] as const;
const DOCUMENTED = 'data.token';

/**
 * Reads the answer to a token call. The document shows `data.token` in an envelope (docs/service-api.md#get-token);
 * without a token no call can be made, so the usual other places are read too, with and without an envelope and the word
 * `Bearer`. Nothing else about the answer matters.
 */
export function readToken(body: AnswerBody): Reading<TokenData> {
  const outer = fieldsIn(body.value);
  const inner = fieldsIn(outer['data']);
  const found = placesOf(outer, inner).flatMap(({ at, value }) => {
    const token = tokenIn(value);
    return token === null ? [] : [{ at, token, hasScheme: token !== value }];
  });
  const [first] = found;
  if (first === undefined)
    return { kept: false, issues: [`${DOCUMENTED}: is required (string that a header can have)`] };
  const { at, token, hasScheme } = first;
  const differences = [
    ...brokenEnvelope(body.value),
    ...(at === DOCUMENTED ? [] : [`${at}: has the token in place of ${DOCUMENTED}`]),
    ...(hasScheme ? [`${at}: has more than the token`] : []),
  ];
  const expires_in = lifetimeIn(inner) ?? lifetimeIn(outer);
  return { kept: true, data: expires_in === null ? { token } : { token, expires_in }, differences };
}

function fieldsIn(value: unknown): JsonFields {
  return isFields(value) ? value : {};
}

/** Where a token may be, best first. */
function placesOf(outer: JsonFields, inner: JsonFields): { readonly at: string; readonly value: unknown }[] {
  return [
    ...TOKEN_NAMES.map((name) => ({ at: `data.${name}`, value: inner[name] })),
    { at: 'data', value: outer['data'] },
    ...TOKEN_NAMES.map((name) => ({ at: name, value: outer[name] })),
  ];
}

/** The token in a text: without spaces around it and without its scheme. Null when a header cannot have it. */
function tokenIn(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const token = value.replace(/^\s*bearer\s/i, '').trim();
  return /^[\x21-\x7e]+$/.test(token) && accessToken.safeParse(token).success ? token : null;
}

function lifetimeIn(fields: JsonFields): number | null {
  for (const name of LIFETIME_NAMES) {
    const value = fields[name];
    const seconds = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
    if (typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0) return seconds;
  }
  return null;
}
