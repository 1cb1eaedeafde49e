import { idTokenClaims, type IdTokenClaims } from '../contracts/identity';
import { personActor, type Actor } from '../domain/ops/audit';
import { roleAllows, type Role } from '../domain/vocabulary';

/** Longest name that is shown. As long as the name of an API key. */
const NAME_MAX = 100;

/** The person that the claims of a valid ID token name; null without a role. Throws for claims without a subject. */
export function personOf(
  given: object,
  { roleClaim, roles }: { readonly roleClaim: string; readonly roles: ReadonlyMap<string, Role> },
): Actor | null {
  const claims = idTokenClaims.parse(given);
  const role = highestRole(claimAt(claims, roleClaim), roles);
  return role && personActor({ subject: claims.sub, name: nameOf(claims), role });
}

/** The value of a claim of this name, else of the path that its dots describe; undefined without one. */
function claimAt(claims: unknown, path: string): unknown {
  if (typeof claims !== 'object' || claims === null) return undefined;
  const own = new Map<string, unknown>(Object.entries(claims));
  if (own.has(path)) return own.get(path);
  const dot = path.indexOf('.');
  return dot === -1 ? undefined : claimAt(own.get(path.slice(0, dot)), path.slice(dot + 1));
}

/** Of a value, or of a list of them. */
function highestRole(claim: unknown, roles: ReadonlyMap<string, Role>): Role | null {
  let highest: Role | null = null;
  for (const value of [claim].flat()) {
    const role = typeof value === 'string' ? roles.get(value) : undefined;
    if (role !== undefined && (highest === null || roleAllows(role, highest))) highest = role;
  }
  return highest;
}

/** The name as it is shown and audited. People choose it, so it has one line and a bound. */
function nameOf({ name, preferred_username: username, email, sub }: IdTokenClaims): string {
  const names = [name, username, email, sub].map((text = '') => text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim());
  const shown = names.find((text) => text !== '') ?? sub;
  return shown.slice(0, NAME_MAX).toWellFormed();
}
