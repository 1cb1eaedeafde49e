import type { Actor } from './audit';
import type { Role } from './vocabulary';

/** A person whom the identity provider has named. They act under an id of their own, as an API key does. */

/** No API key has an id like this. */
const PREFIX = 'oidc:';

/** `subject`: the id of the person at the provider, which never changes and is never given again. */
export function personActor(person: { readonly subject: string; readonly name: string; readonly role: Role }): Actor {
  return { id: `${PREFIX}${person.subject}`, name: person.name, role: person.role };
}

/** True for an actor who signed in through the provider. */
export function isPerson({ id }: Pick<Actor, 'id'>): boolean {
  return id.startsWith(PREFIX);
}
