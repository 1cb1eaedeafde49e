import { task, type Task } from '../contracts/records';

/** From Redis replies to records; whatever does not look as it should is an error, never a guess. */

/** What a script or command answered is not what it promises: a fault in our code or a foreign hand in our keys. */
export class UnexpectedReply extends Error {
  constructor(readonly what: string) {
    super(`Redis answered something unexpected for ${what}`);
    this.name = 'UnexpectedReply';
  }
}

/** A reply that is text, or a number as text. */
export function text(reply: unknown, what: string): string {
  if (typeof reply === 'string') return reply;
  if (typeof reply === 'number') return String(reply);
  throw new UnexpectedReply(what);
}

/** A reply that is a list. */
export function list(reply: unknown, what: string): unknown[] {
  if (!Array.isArray(reply)) throw new UnexpectedReply(what);
  return reply;
}

/** A reply that is a list of texts. */
export function texts(reply: unknown, what: string): string[] {
  return list(reply, what).map((item) => text(item, what));
}

/** A flat list of names and values, as Redis answers a hash. */
export function fields(reply: unknown, what: string): Map<string, string> {
  const flat = texts(reply, what);
  const map = new Map<string, string>();
  for (let i = 0; i + 1 < flat.length; i += 2) map.set(flat[i] ?? '', flat[i + 1] ?? '');
  return map;
}

/** The fields of a hash as a pipeline answers it; none for a key of another type. */
export function textFieldsOf(reply: unknown): Readonly<Record<string, string>> {
  if (typeof reply !== 'object' || reply === null) return {};
  return Object.fromEntries(Object.entries(reply).map(([name, value]) => [name, String(value)]));
}

/** A stored task, with the moment it was opened. */
export function taskOf(json: string, openedAtMs: string): Task {
  return { ...task.parse(JSON.parse(json)), opened_at: new Date(Number(openedAtMs)).toISOString() };
}
