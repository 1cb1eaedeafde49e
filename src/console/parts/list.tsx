import type { Viewer } from '../viewer';

/** Links to the first and the next page of a list; nothing if it has one page. */
export function Paging(props: {
  readonly viewer: Viewer;
  readonly label: string;
  /** The address of the first page; null on it. */
  readonly first: string | null;
  /** The address of the next page; null on the last. */
  readonly next: string | null;
}) {
  const { viewer, label, first, next } = props;
  const { common } = viewer.messages;
  if (first === null && next === null) return null;
  return (
    <nav class="row paging" aria-label={label}>
      {first !== null && (
        <a class="button" href={first}>
          {common.first}
        </a>
      )}
      {next !== null && (
        <a class="button" rel="next" href={next}>
          {common.more}
        </a>
      )}
    </nav>
  );
}

/** The search of a list. `hidden`: what else narrows the list, by parameter of its address. */
export function SearchForm(props: {
  readonly viewer: Viewer;
  readonly action: string;
  readonly label: string;
  readonly placeholder: string;
  readonly value: string | null;
  readonly hidden: readonly (readonly [name: string, value: string])[];
}) {
  const { viewer, action, label, placeholder, value, hidden } = props;
  return (
    <search class="board-search">
      <form method="get" action={action}>
        {hidden.map(([name, each]) => (
          <input type="hidden" name={name} value={each} />
        ))}
        <input
          type="search"
          name="q"
          value={value ?? ''}
          dir="auto"
          aria-label={label}
          placeholder={placeholder}
          maxlength={200}
          autocomplete="off"
          spellcheck={false}
          enterkeyhint="search"
          data-search
        />
        <button>{viewer.messages.common.search}</button>
      </form>
    </search>
  );
}

/**
 * Counts rows that appeared between the rows already shown. Rows after the last shown one belong to the next page and
 * are not counted, unless this is the last page.
 */
export function countNewRows(
  listed: readonly string[],
  { shown, isLast }: { shown: readonly string[]; isLast: boolean },
): number {
  const isShown = new Set(shown);
  const end = listed.findLastIndex((name) => isShown.has(name));
  const compared = isLast || end === -1 ? listed : listed.slice(0, end);
  return compared.filter((name) => !isShown.has(name)).length;
}
