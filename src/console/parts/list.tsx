import type { Child } from 'hono/jsx';
import type { Viewer } from '../viewer';

/** Links to the first and the next page of a list; nothing if it has one page. */
export function Paging(props: {
  readonly viewer: Viewer;
  /** The address of the first page; null on it. */
  readonly first: string | null;
  /** The address of the next page; null on the last. */
  readonly next: string | null;
}) {
  const { viewer, first, next } = props;
  const { common } = viewer.messages;
  if (first === null && next === null) return null;
  return (
    <nav class="row paging" aria-label={common.pages}>
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

/** A filter as a link, marked when it applies. */
export function Chip(props: {
  readonly to: string;
  readonly isOn: boolean;
  /** The number of matches, formatted. */
  readonly count?: string;
  /** The id of the element of the count. */
  readonly countId?: string;
  /** The counted matches need attention. */
  readonly isAlarm?: boolean;
  readonly children: Child;
}) {
  const { to, isOn, count, countId, isAlarm = false, children } = props;
  return (
    <li>
      <a class={isAlarm ? 'chip alarm' : 'chip'} href={to} aria-current={isOn ? 'true' : undefined}>
        {children}
        {count !== undefined && (
          <span class="count" id={countId}>
            {count}
          </span>
        )}
      </a>
    </li>
  );
}

/** A cell of a table that is laid out as cards on a narrow screen. */
export function Cell({ name, children }: { name: string; children: Child }) {
  return (
    <td role="cell" class={name}>
      {children}
    </td>
  );
}

/** A link below an empty list. */
export function LinkButton({ to, children }: { to: string; children: string }) {
  return (
    <p class="centered">
      <a class="button" href={to}>
        {children}
      </a>
    </p>
  );
}

/** The orders of a list as links. */
export function Orders<Order extends string | null>(props: {
  readonly viewer: Viewer;
  readonly chosen: Order;
  readonly orders: readonly (readonly [order: Order, label: string])[];
  /** The address of the list in an order. */
  readonly at: (order: Order) => string;
}) {
  return (
    <ul class="orders" aria-label={props.viewer.messages.common.order}>
      {props.orders.map(([order, label]) => (
        <li>
          <a class="quiet" href={props.at(order)} aria-current={order === props.chosen ? 'true' : undefined}>
            {label}
          </a>
        </li>
      ))}
    </ul>
  );
}
