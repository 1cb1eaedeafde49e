import { PAGE_ENTRIES } from '../page-table';
import type { Child } from 'hono/jsx';
import type { FormFailure } from '../page';
import { ReasonField } from './decisions';
import { PostForm } from './form';
import { Problem } from './problem';
import type { Viewer } from '../viewer';
import { Paging } from './list';

/**
 * An action of ops, folded so that it takes two clicks, with an optional reason for the audit. A refresh keeps an open
 * one (ops.js).
 */
export function ActionForm(props: {
  readonly viewer: Viewer;
  readonly form: string;
  readonly action: string;
  readonly label: string;
  /** What the action does and to what, for screen readers. */
  readonly about: string;
  readonly hint?: string;
  /** The text of the button; by default the label. */
  readonly sure?: string;
  readonly isDanger?: boolean;
  readonly hasReason?: boolean;
  readonly failure: FormFailure | null;
  readonly children?: Child;
}) {
  const { viewer, form, action, label, about, hint, failure, children } = props;
  const messages = viewer.messages.ops;
  return (
    <details class="act" id={`act-${form}`} open={failure?.form === form}>
      <summary class="button" aria-label={about}>
        {label}
      </summary>
      <PostForm viewer={viewer} action={action} label={about}>
        <Problem viewer={viewer} failure={failure} form={form} />
        {hint !== undefined && <p>{hint}</p>}
        {props.hasReason === true && (
          <ReasonField
            viewer={viewer}
            form={form}
            label={viewer.messages.common.reason}
            hint={messages.reasonHint}
            autocomplete="off"
            failure={failure}
          />
        )}
        {children}
        <div>
          <button class={props.isDanger === true ? 'danger' : 'main'}>{props.sure ?? label}</button>
        </div>
      </PostForm>
    </details>
  );
}

/** The list of refused calls, for ops. */
export const REFUSED_CALLS_PATH = '/ops/deliveries?refused=true';

/** Paging of an ops list that keeps its filter. */
export function OpsPaging(props: {
  readonly viewer: Viewer;
  readonly path: string;
  /** The filter of the list. */
  readonly query?: Readonly<Record<string, string>>;
  readonly cursor: string | null;
  readonly nextCursor: string | null;
}) {
  const { viewer, path, query = {}, cursor, nextCursor } = props;
  const address = (more: Readonly<Record<string, string>>) => {
    const text = new URLSearchParams({ ...query, ...more }).toString();
    return text === '' ? path : `${path}?${text}`;
  };
  return (
    <Paging
      viewer={viewer}
      first={cursor === null ? null : address({})}
      next={nextCursor === null ? null : address({ cursor: nextCursor })}
    />
  );
}

/** A table on wide screens, cards on a phone. Explicit roles keep it a table for screen readers. */
export function Table({
  caption,
  heads,
  rows,
}: {
  caption: string;
  heads: readonly string[];
  rows: readonly TableRow[];
}) {
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

interface TableRow {
  readonly id: string;
  /** One cell per column; the first is the row heading. */
  readonly cells: readonly Child[];
}

/** Links to the ops pages that the viewer may see. */
export function Tabs({ viewer, here }: { viewer: Viewer; here: string }) {
  const { tab, tabs } = viewer.messages.ops;
  const entries = [
    ...PAGE_ENTRIES.flatMap(({ path, role, tab: name }) =>
      name !== undefined && role !== null && viewer.may(role) ? [[path, tab[name]] as const] : [],
    ),
    ...(viewer.may('ops') ? [['/queues', tab.jobs] as const] : []),
  ];
  return (
    <nav class="ops-tabs" aria-label={tabs}>
      <ul>
        {entries.map(([address, label]) => (
          <li>
            <a href={address} aria-current={address === here ? 'page' : undefined}>
              {label}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
