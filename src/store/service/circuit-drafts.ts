import { areQuiet, draftOfCircuits, NO_CIRCUITS, type Circuits } from '../../domain/service/stored-circuits';
import type { Redis } from 'ioredis';
import type { StoredBudgetState } from '../../contracts/service/stored-budgets';
import { noEffects, stopSending, type CircuitEffects } from '../../domain/service/circuits';
import { changeOfCircuits, readCircuits, type CircuitsChange, type ReadCircuits, type TurnedCircuit } from './circuits';
import { isTransient } from '../redis/until-answered';
import type { RecordKind } from '../../domain/outbox/outbox-record';

/** This process may notice a circuit that another process opens this much later. */
const KEPT_MS = 250;

/** What a process keeps between transactions while no circuit is open, to avoid a read per decision. */
export interface CircuitsMemory {
  kept: (ReadCircuits & { readonly untilMs: number }) | null;
  /** True in a process that sends nothing: its decisions let no call out, also when the circuits in Redis would. */
  sendsNothing: boolean;
}

interface LoadedCircuits extends ReadCircuits {
  readonly draft: Circuits;
  /** True for those that this process had kept: another process may have opened a circuit since. */
  readonly isKept: boolean;
}

/** The circuits that one transaction reads and changes. */
export class CircuitDrafts {
  readonly effects: CircuitEffects = noEffects();
  /** True once `changes` has found a change. */
  hasChanged = false;
  /** The circuits that this change opens or closes. */
  turned: readonly TurnedCircuit[] = [];
  #loaded: LoadedCircuits | null = null;

  constructor(
    private readonly redis: Redis,
    private readonly nowMs: number,
    private readonly memory: CircuitsMemory,
  ) {}

  /** A draft. Without `isFresh`, the circuits that this process has kept serve. */
  async draft(isFresh: boolean): Promise<Circuits> {
    return (await this.#load(isFresh)).draft;
  }

  /**
   * A draft for the result of a call, which must be stored even if the stored circuits are damaged or of a later
   * version. Then it is a quiet one that is not written. Claims are refused meanwhile.
   */
  async draftForResult(): Promise<Circuits> {
    return this.draft(false).catch((error: unknown) => {
      if (isTransient(error)) throw error;
      return draftOfCircuits(NO_CIRCUITS);
    });
  }

  async budgetState(kind: RecordKind): Promise<StoredBudgetState> {
    return (await this.#load(false)).budgets[kind];
  }

  /** Reads the circuits, unless this process has kept them, so that they need no round trip later. */
  async preload(): Promise<void> {
    if (!this.#kept()) await this.#load(false);
  }

  /** Makes the next transaction read the circuits. */
  forget(): void {
    this.memory.kept = null;
  }

  /** What the commit writes; null when the circuits were not read. */
  changes(newId: () => string): CircuitsChange | null {
    if (!this.#loaded) return null;
    const { known, draft } = this.#loaded;
    const change = changeOfCircuits(known, draft, { closed: this.effects.closed, newId });
    this.hasChanged = change.hasChanged;
    this.turned = change.turned;
    return change;
  }

  #kept(): ReadCircuits | null {
    const { kept } = this.memory;
    // Kept for longer, the clock of Redis was set back.
    const isKept = kept && kept.untilMs > this.nowMs && kept.untilMs <= this.nowMs + KEPT_MS;
    return isKept ? kept : null;
  }

  async #load(isFresh: boolean): Promise<LoadedCircuits> {
    const loaded = this.#loaded;
    // A draft that was changed is not replaced: if the kept circuits are outdated, its commit is refused as stale.
    if (loaded && !(isFresh && loaded.isKept && areQuiet(loaded.draft))) return loaded;
    const kept = isFresh ? null : this.#kept();
    const { known, budgets } = kept ?? (await this.#read());
    const draft = draftOfCircuits(known);
    if (this.memory.sendsNothing) stopSending(draft, this.nowMs);
    return (this.#loaded = { known, budgets, draft, isKept: kept !== null });
  }

  async #read(): Promise<ReadCircuits> {
    const read = await readCircuits(this.redis);
    this.memory.kept = areQuiet(read.known) ? { ...read, untilMs: this.nowMs + KEPT_MS } : null;
    return read;
  }
}
