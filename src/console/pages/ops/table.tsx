import type { Child } from 'hono/jsx';

/**
 * A table on a desk, a list of cards on a phone, from the same elements. Their roles are written down, since a table that
 * is laid out as cards would no longer be read out as one.
 */
export function Table({ caption, heads, rows }: { caption: string; heads: readonly string[]; rows: readonly Row[] }) {
  return (
    <table class="ops-table" role="table">
      <caption class="visually-hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {heads.map((head) => (
            <th scope="col" role="columnheader">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map(({ id, cells: [first, ...others] }) => (
          <tr role="row" id={id}>
            <th scope="row" role="rowheader">
              {first}
            </th>
            {others.map((cell, at) => (
              <td role="cell" data-label={heads[at + 1] ?? ''}>
                <div>{cell}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export interface Row {
  readonly id: string;
  /** One for each head; the first says what the row is about. */
  readonly cells: readonly Child[];
}
