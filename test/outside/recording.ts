import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { PROJECT } from '../support/project';

/** What was done from outside, and what came of it. */
interface Exchange {
  /** Method, path, sender and body; or a command. Names the exchange. */
  readonly did: string;
  /** Status and body of an answer; exit code and output of a command; a list of events, metrics or calls. */
  readonly got: unknown;
}

const WRITES = 'WRITE_OUTSIDE';
const MAX_LINE = 120;
/** A longer list or object has lines of its own. */
const SHORT = 40;

const WHAT_TO_DO = `What people and programs see from outside has changed. If that is on purpose, write it down:
${WRITES}=1 npx jest test/outside, a line in CHANGELOG.md, and the pages of docs that state it.`;

/** Values that depend on the moment or on chance, each kind with its placeholder. */
const KINDS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['time', /\b20(?!24-11-20)\d\d-\d\d-\d\dT[\d:.]+Z/g],
  ['time', /\b20(?!24-11-20)\d\d-\d\d-\d\d \d\d:\d\d(:\d\d)?/g],
  ['id', /\b[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\b/g],
  ['cursor', /\b[\da-f]{12}-\d+-\d+/g],
  ['delivery', /\bdlv_[\w-]+/g],
  ['secret', /\bthk_[\w-]+/g],
  ['port', /(?<=127\.0\.0\.1:|localhost:)\d+/g],
];

/** Fields whose values depend on the moment, or count what a machine did meanwhile. */
const FIELDS =
  /^(version|duration_ms|ended_at_ms|attempt_id|next_cursor|active|waiting|due|oldest_age_ms|used|id_hash|place_in_queue)$/;

/** Records the exchanges of one area and compares them with the kept file of that area. */
export class Recording {
  readonly #file: string;
  readonly #placeholders = new Map<string, string>();
  readonly #shown = new Map<string, unknown>();
  readonly #exchanges: Exchange[] = [];

  constructor(area: string) {
    this.#file = join(PROJECT, 'test', 'outside', 'recorded', `${area}.json`);
  }

  /** Adds an exchange. Of a record that was shown before, only what has changed is kept. */
  add(did: string, got: unknown): void {
    this.#exchanges.push({ did: this.#textOf(did), got: this.#normal(got) });
  }

  /** As `add`, for an answer of HTTP. */
  answer(did: string, status: number, headers: Readonly<Record<string, string>>, body: unknown): void {
    const shown = z.looseObject({
      towing_reference_id: z.string().optional(),
      id: z.string().optional(),
      version: z.number(),
    });
    const { data: record } = shown.safeParse(body);
    const normal = this.#normal(body);
    const name = record?.towing_reference_id ?? record?.id;
    const before = name === undefined ? undefined : this.#shown.get(name);
    if (name !== undefined) this.#shown.set(name, normal);
    const seen = before === undefined ? { body: normal } : { changes: changesOf(before, normal) ?? 'none' };
    const named = Object.keys(headers).length === 0 ? {} : { headers };
    this.#exchanges.push({ did: this.#textOf(did), got: { status, ...named, ...seen } });
  }

  /** Throws with the first exchange that differs from the kept file, which `WRITE_OUTSIDE=1` writes. */
  compare(): void {
    const found = this.#exchanges;
    if (process.env[WRITES] !== undefined) writeFileSync(this.#file, `${pretty(found)}\n`);
    const kept = existsSync(this.#file) ? exchanges.parse(JSON.parse(readFileSync(this.#file, 'utf8'))) : [];
    const same: unknown = JSON.parse(JSON.stringify(found));
    try {
      expectSame(exchanges.parse(same), kept);
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : String(error)}\n\n${WHAT_TO_DO}`, { cause: error });
    }
  }

  #normal(value: unknown): unknown {
    if (typeof value === 'string') return this.#textOf(value);
    if (Array.isArray(value)) return value.map((each) => this.#normal(each));
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value).map(([name, field]: [string, unknown]) => {
      const isChance = FIELDS.test(name) && field !== null;
      return [this.#textOf(name), isChance ? `<${name}>` : this.#normal(field)] as const;
    });
    return Object.fromEntries(fields);
  }

  #textOf(text: string): string {
    return KINDS.reduce(
      (rest, [kind, pattern]) => rest.replaceAll(pattern, (found) => this.#placeholder(kind, found)),
      text,
    );
  }

  /** Times and ports look alike; of others, the same value gets the same number. */
  #placeholder(kind: string, found: string): string {
    if (kind === 'time' || kind === 'port') return `<${kind}>`;
    const known = this.#placeholders.get(found);
    if (known !== undefined) return known;
    const number = [...this.#placeholders.values()].filter((each) => each.startsWith(`<${kind} `)).length + 1;
    const placeholder = `<${kind} ${number}>`;
    this.#placeholders.set(found, placeholder);
    return placeholder;
  }
}

/** Shows the first exchange that differs, which is named by what was done. */
function expectSame(found: readonly Exchange[], kept: readonly Exchange[]): void {
  expect(found.map(({ did }) => did)).toEqual(kept.map(({ did }) => did));
  for (const [at, exchange] of found.entries()) expect(exchange).toEqual(kept[at]);
}

const exchanges = z.array(z.object({ did: z.string(), got: z.unknown() }));

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The fields and items that are new or other; undefined when there are none. */
function changesOf(before: unknown, after: unknown): unknown {
  if (JSON.stringify(before) === JSON.stringify(after)) return undefined;
  if (!isObject(before) || !isObject(after) || Array.isArray(before) !== Array.isArray(after)) return after;
  const [earlier, later] = [new Map<string, unknown>(Object.entries(before)), Object.entries(after)];
  const changed = later.flatMap(([name, value]: [string, unknown]) => {
    const change = earlier.has(name) ? changesOf(earlier.get(name), value) : value;
    return change === undefined ? [] : [[name, change] as const];
  });
  const gone = [...earlier.keys()].filter((name) => !(name in after)).map((name) => [name, '<gone>'] as const);
  return Object.fromEntries([...changed, ...gone]);
}

/** JSON in which values share lines: an object or a list has one line if it fits, and fills several if not. */
function pretty(value: unknown, indent = ''): string {
  const line = JSON.stringify(value);
  if (!isObject(value) || indent.length + line.length <= MAX_LINE) return line;
  const deeper = `${indent}  `;
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const lines: string[] = [];
  const parts: readonly [string, unknown][] = Object.entries(value);
  for (const [name, part] of parts) {
    const text = `${Array.isArray(value) ? '' : `${JSON.stringify(name)}: `}${pretty(part, deeper)}`;
    const last = lines.at(-1);
    const isShared = last !== undefined && !last.includes('\n') && (!isObject(part) || text.length <= SHORT);
    if (isShared && deeper.length + last.length + text.length + 2 < MAX_LINE)
      lines[lines.length - 1] = `${last}, ${text}`;
    else lines.push(text);
  }
  return `${open}\n${lines.map((each) => `${deeper}${each}`).join(',\n')}\n${indent}${close}`;
}
