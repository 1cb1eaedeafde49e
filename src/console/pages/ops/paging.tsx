import type { Viewer } from '../../viewer';

/** On to the next page of a list, and back to the first. */
export function Paging(props: {
  readonly viewer: Viewer;
  readonly path: string;
  readonly label: string;
  /** What the list is narrowed to. */
  readonly query?: Readonly<Record<string, string>>;
  readonly cursor: string | null;
  readonly nextCursor: string | null;
}) {
  const { viewer, path, label, query = {}, cursor, nextCursor } = props;
  const { common } = viewer.words;
  if (cursor === null && nextCursor === null) return null;
  const address = (more: Readonly<Record<string, string>>) => {
    const text = new URLSearchParams({ ...query, ...more }).toString();
    return text === '' ? path : `${path}?${text}`;
  };
  return (
    <nav class="row paging" aria-label={label}>
      {cursor !== null && (
        <a class="button" href={address({})}>
          {common.first}
        </a>
      )}
      {nextCursor !== null && (
        <a class="button" rel="next" href={address({ cursor: nextCursor })}>
          {common.more}
        </a>
      )}
    </nav>
  );
}
