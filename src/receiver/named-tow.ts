import { isObject, withQuotedNumbers, withoutByteOrderMark } from '../domain/json';
import { brokenReferenceRule, isTowingReference, type TowingReference } from '../domain/vocabulary';

/** Finds the tow that a webhook names in another place than documented. */

type MessagePart = Readonly<Record<string, unknown>>;

const NAMES = ['towing_reference_id', 'towingReferenceId'] as const;

/** A tow that was found, and the whole message with the digits of its numbers as sent, to compare messages by. */
export interface NamedTow {
  readonly kind: 'named';
  readonly towingReferenceId: TowingReference;
  readonly spelled: unknown;
}

/**
 * The first tow that a message names in snake or camel case, in itself, its `data`, or an item of a list; null when it
 * names none. Whole numbers count as the text of their digits.
 * @param message the output of JSON.parse of `text`.
 *
 * Open question Q34: other forms of a webhook than the documented one are not described.
 */
export function namedTow(message: unknown, text: string): NamedTow | null {
  const spelled: unknown = JSON.parse(withQuotedNumbers(withoutByteOrderMark(text)));
  const digits = placesIn(spelled);
  for (const [at, place] of placesIn(message).entries()) {
    for (const name of NAMES) {
      const found = textOf(place[name], digits[at]?.[name]);
      if (found !== null && brokenReferenceRule(found) === null && isTowingReference(found)) {
        return { kind: 'named', towingReferenceId: found, spelled };
      }
    }
  }
  return null;
}

/** Deeper and further places are not looked at: a hostile message may have as many of them as bytes. */
const DEPTH_MAX = 4;
const PLACES_MAX = 1000;

/** The objects that may name a tow, in the order of the text. */
function placesIn(value: unknown, places: MessagePart[] = [], depth = 0): readonly MessagePart[] {
  if (depth > DEPTH_MAX || !isObject(value)) return places;
  if (Array.isArray(value)) {
    for (const item of value.slice(0, PLACES_MAX)) placesIn(item, places, depth + 1);
  } else if (places.length < PLACES_MAX) {
    places.push(value);
    placesIn(value['data'], places, depth + 1);
  }
  return places;
}

function textOf(value: unknown, digits: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' && typeof digits === 'string' && /^\d+$/.test(digits) ? digits : null;
}
