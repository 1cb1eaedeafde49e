import type { BulkOptions } from '../../src/workflow/bulk';
import type { BulkStore, HeldRun } from '../../src/workflow/bulk-port';

const NEVER = new Promise<never>(() => {});

/**
 * The parts of a process that is lost in the middle: from one of its steps on nothing it does has an effect, and nothing
 * answers it. A step, counted from 1, is a call about the run or of the operator API; the last one is lost `before` it has
 * its effect or `after`, so that nobody hears of it.
 */
export function mortal(
  { store, api }: Pick<BulkOptions, 'store' | 'api'>,
  end: { step: number; when: 'before' | 'after' },
): Pick<BulkOptions, 'store' | 'api'> & { readonly closeMs: number } {
  let steps = 0;
  const step = async <T>(work: () => Promise<T>): Promise<T> => {
    steps += 1;
    const isLast = steps === end.step;
    if (steps > end.step || (isLast && end.when === 'before')) return NEVER;
    const result = await work();
    // What was under way when the process was lost has its effect all the same.
    return isLast || steps >= end.step ? NEVER : result;
  };
  const mortalRun = (held: HeldRun): HeldRun => ({
    begin: (lane) => step(() => held.begin(lane)),
    note: (position, result) => step(() => held.note(position, result)),
    renew: () => (steps >= end.step ? NEVER : held.renew()),
    isSurelyHeld: () => held.isSurelyHeld(),
    letGo: (why) => step(() => held.letGo(why)),
  });
  const mortalStore: BulkStore = {
    ...store,
    take: async (id, mode, as) => {
      const taken = await store.take(id, mode, as);
      return taken.kind === 'taken' ? { ...taken, held: mortalRun(taken.held) } : taken;
    },
  };
  return { store: mortalStore, api: { ...api, call: (route, call) => step(() => api.call(route, call)) }, closeMs: 0 };
}
