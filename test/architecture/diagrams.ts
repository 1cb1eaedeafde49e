import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../support/project';

/** The transitions of the first diagram under a heading of docs/state-machines.md, as `from > to`, sorted. */
export function diagramUnder(heading: string): string[] {
  const page = readFileSync(join(PROJECT, 'docs/state-machines.md'), 'utf8');
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const [, diagram = ''] = /```mermaid\n([\s\S]*?)```/.exec(section.split('\n## ')[0] ?? '') ?? [];
  const lines = [...diagram.matchAll(/^ *(\S+) --> ([^\s:]+)/gm)];
  return lines.map(([, from = '', to = '']) => `${from} > ${to}`).toSorted();
}

/** Collects the transitions that a random run makes. */
export class Transitions {
  readonly #seen = new Set<string>();

  /** Notes every new value that is given to `field`, as a transition from the value before. */
  watch<K extends string>(record: Record<K, string>, field: K): void {
    let value: string = record[field];
    const note = (next: string) => {
      if (next !== value) this.#seen.add(`${value} > ${next}`);
      value = next;
    };
    Object.defineProperty(record, field, { get: () => value, set: note, enumerable: true });
  }

  note(from: string, to: string): void {
    if (from !== to) this.#seen.add(`${from} > ${to}`);
  }

  /** Sorted, each once. */
  get all(): string[] {
    return [...this.#seen].toSorted();
  }
}

/** Random numbers from 0 to 1, and random items of a list. */
export interface RandomSource {
  readonly next: () => number;
  readonly pick: <T>(items: readonly T[]) => T;
}

/** A generator of random numbers that repeats itself for the same seed (mulberry32). */
export function randomOf(seed: number): RandomSource {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    pick(items) {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new Error('there is nothing to pick');
      return item;
    },
  };
}
