import leven from 'leven';
import { givenIn, type Environment } from './variable-rules';
import { COMMAND_LINE_VARIABLES, VARIABLES } from './variables';

/**
 * Variables that look like those of towhook and are none: a mistyped name has no effect, and the default counts. Those of
 * other programs are no fault, so most are only named. One that may be meant as SERVICE_MODE stops the start, since the
 * default sends what was not to be sent.
 */

const KNOWN = [...new Set([...Object.keys(VARIABLES.shape), ...Object.keys(COMMAND_LINE_VARIABLES.shape)])];
const DECISIVE = 'SERVICE_MODE';

/** The first words that several of our names share. Others of OpenTelemetry are read by its library. */
const FIRST_WORDS = KNOWN.map(firstWordOf);
const OWN_WORDS = new Set(FIRST_WORDS.filter((word, at) => word !== 'OTEL' && FIRST_WORDS.indexOf(word) !== at));

/** What Kubernetes sets for each Service beside a pod. */
const SERVICE_LINK = /_SERVICE_(?:HOST|PORT)(?:_|$)|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_|$)/;

interface UnknownVariable {
  readonly variable: string;
  /** The variable whose name is nearly the same; null: none. */
  readonly nearest: string | null;
  readonly value: string;
}

function unknownIn(environment: Environment): UnknownVariable[] {
  return Object.entries(givenIn(environment)).flatMap(([variable, value = '']) => {
    if (KNOWN.includes(variable) || SERVICE_LINK.test(variable) || value.startsWith('tcp://')) return [];
    return { variable, nearest: nearestTo(variable.toUpperCase()), value };
  });
}

/** One letter may be wrong in a short name, which another program's may resemble, and two in a long one. */
function nearestTo(name: string): string | null {
  const distances = KNOWN.map((known) => ({ known, distance: leven(name, known) }));
  const near = distances.filter(({ known, distance }) => distance <= (known.length < 10 ? 1 : 2));
  return near.toSorted((one, other) => one.distance - other.distance)[0]?.known ?? null;
}

function firstWordOf(name: string): string {
  return name.split('_', 1)[0] ?? name;
}

/** The unknown variables that may be meant as ours, with the one that may be meant: `RECEIVER_PROT (RECEIVER_PORT?)`. */
export function unknownVariables(environment: Environment): readonly string[] {
  return unknownIn(environment)
    .filter(({ variable, nearest }) => nearest !== null || OWN_WORDS.has(firstWordOf(variable)))
    .map(({ variable, nearest }) => (nearest === null ? variable : `${variable} (${nearest}?)`));
}

/** The unknown variables that may be meant as SERVICE_MODE, by name or by value. */
export function mistakenModes(environment: Environment): { variable: string; rule: string }[] {
  return unknownIn(environment)
    .filter(
      ({ variable, nearest, value }) =>
        nearest === DECISIVE || (/MODE$/i.test(variable) && value.toLowerCase() === 'shadow'),
    )
    .map(({ variable }) => ({
      variable,
      rule: `is no variable of towhook: ${DECISIVE} decides whether anything is sent; correct the name or remove it`,
    }));
}
