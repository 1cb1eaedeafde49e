import type { Failure } from './answers';

/**
 * What of a form was changed, by what the form was filled with and by nothing else: the same form always says the same,
 * whatever has become of the record since, also through this very form.
 */

/** Stands before the name of a field for what it held when the form was made. */
const WAS = 'was-';

/** Keeps what a field of a form holds while the form is made. */
export function Was({ name, value }: { name: string; value: string }) {
  return <input type="hidden" name={`${WAS}${name}`} value={value} />;
}

/** The names of the fields that hold something else than the form was filled with. */
export function changedIn(form: URLSearchParams): string[] {
  return [...form.keys()].filter((name) => {
    const was = form.get(`${WAS}${name}`);
    return was !== null && linesOf(form.get(name) ?? '') !== linesOf(was);
  });
}

/** A failure that keeps what was changed: every other field of the form holds what the record says by now. */
export function unchangedAsNow(failure: Failure | null): Failure | null {
  if (failure === null) return null;
  const changed = changedIn(failure.entered);
  const entered = [...failure.entered].filter(
    ([name]) => changed.includes(name) || !failure.entered.has(`${WAS}${name}`),
  );
  return { ...failure, entered: new URLSearchParams(entered) };
}

/** A browser breaks lines in its own way. */
function linesOf(text: string): string {
  return text.trim().replaceAll('\r\n', '\n');
}
