import { savedKind } from '../contracts/replies';
import type { Saved } from '../workflow/ports';
import { texts } from './parse';

/** What the writing scripts answer, in one place. */
export function savedOf(reply: unknown, what: string): Saved {
  const [first, value] = texts(reply, what);
  const kind = savedKind.parse(first);
  return kind === 'remembered' ? { kind, fingerprint: value ?? '' } : { kind };
}

/** Whether save-tow.lua settled the delivery of its change, which another worker may have done before. */
export function settledOf(reply: unknown): boolean {
  return texts(reply, 'save-tow')[2] === 'settled';
}
