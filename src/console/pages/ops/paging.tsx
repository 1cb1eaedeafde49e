import { Paging } from '../../parts/paging';
import type { Viewer } from '../../viewer';

/** The way through a list of the ops pages: its path and what it is narrowed to stay. */
export function OpsPaging(props: {
  readonly viewer: Viewer;
  readonly path: string;
  readonly label: string;
  /** What the list is narrowed to. */
  readonly query?: Readonly<Record<string, string>>;
  readonly cursor: string | null;
  readonly nextCursor: string | null;
}) {
  const { viewer, path, label, query = {}, cursor, nextCursor } = props;
  const address = (more: Readonly<Record<string, string>>) => {
    const text = new URLSearchParams({ ...query, ...more }).toString();
    return text === '' ? path : `${path}?${text}`;
  };
  return (
    <Paging
      viewer={viewer}
      label={label}
      first={cursor === null ? null : address({})}
      next={nextCursor === null ? null : address({ cursor: nextCursor })}
    />
  );
}
