import type { Viewer } from '../viewer';

/** The way through a list by its cursor: back to its first page, and on to the next; nothing where it is whole. */
export function Paging(props: {
  readonly viewer: Viewer;
  readonly label: string;
  /** The address of the first page; null on it. */
  readonly first: string | null;
  /** The address of the next page; null on the last. */
  readonly next: string | null;
}) {
  const { viewer, label, first, next } = props;
  const { common } = viewer.words;
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
