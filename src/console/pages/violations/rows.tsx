import type { Child } from 'hono/jsx';
import type { ViolationRecord } from '../../../contracts/violations';
import { metadataIdOf } from '../../../domain/violation';
import { Age, Plate, Ref } from '../../parts/text';
import { LastWords } from '../../parts/why';
import { ViolationState } from '../../parts/violation-state';
import type { Viewer } from '../../viewer';
import type { ViolationRow } from './read';

/**
 * The violations: a table on a desk, cards on a phone, from the same elements. Their roles are written down, since a table
 * that is laid out as cards would no longer be read out as one.
 */
export function ViolationTable({ viewer, rows }: { viewer: Viewer; rows: readonly ViolationRow[] }) {
  const { heads, table } = viewer.words.violations;
  return (
    <table class="tows violations" role="table">
      <caption class="visually-hidden">{table}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {[heads.violation, heads.plate, heads.type, heads.zone, heads.state, heads.tows, heads.age].map((head) => (
            <th scope="col" role="columnheader">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map(({ id, record, passes }) =>
          record === null ? (
            <GoneRow viewer={viewer} id={id} />
          ) : (
            <Row viewer={viewer} record={record} passes={passes} />
          ),
        )}
      </tbody>
    </table>
  );
}

function Row({ viewer, record, passes }: { viewer: Viewer; record: ViolationRecord; passes: boolean }) {
  const { violation, reference, towingReferenceIds } = record;
  const { form } = violation;
  const words = viewer.words.violations;
  return (
    <tr role="row" id={rowId(violation.id)} class={passes ? 'tow-row' : 'tow-row left'}>
      <th scope="row" role="rowheader">
        <a href={violationPath(violation.id)} data-row-link>
          <Ref>{reference ?? violation.id}</Ref>
        </a>
        <span class="under">{reference === null ? words.noReference : <Ref>{metadataIdOf(violation)}</Ref>}</span>
        {!passes && <span class="under">{words.left}</span>}
      </th>
      <Cell name="plate-cell">
        <Plate plate={form.plateNumber} />
      </Cell>
      <Cell name="type">{viewer.words.terms.violationTypes[form.violationType]}</Cell>
      <Cell name="zone-cell">
        <span class="zone" dir="ltr" title={form.zoneId}>
          <Ref>{form.zoneId}</Ref>
        </span>
      </Cell>
      <Cell name="state">
        <ViolationState viewer={viewer} standing={record} />
        <Said record={record} />
      </Cell>
      <Cell name="its-tows">
        {towingReferenceIds.length === 0 ? (
          <span class="muted">{words.noTows}</span>
        ) : (
          towingReferenceIds.map((ref) => (
            <a class="its-tow" href={`/tows/${encodeURIComponent(ref)}`}>
              <Ref>{ref}</Ref>
            </a>
          ))
        )}
      </Cell>
      <Cell name="age">
        <Age viewer={viewer} since={violation.createdAt} />
      </Cell>
    </tr>
  );
}

/** What the service, or the wire, said last, of one that is not settled. */
function Said({ record: { state, lastError } }: { record: ViolationRecord }) {
  if (lastError === null || state === 'accepted' || state === 'waived') return null;
  return (
    <p class={state === 'pending' ? 'waits' : 'waits decide'}>
      <LastWords error={{ ...lastError, message: shortened(lastError.message) }} />
    </p>
  );
}

/** The service may say a lot; two lines of it are shown here. */
const WORDS_MAX = 120;

function shortened(words: string): string {
  return words.length > WORDS_MAX ? `${words.slice(0, WORDS_MAX)}…` : words;
}

/** What left for the archive while it was shown keeps its place. */
function GoneRow({ viewer, id }: { viewer: Viewer; id: string }) {
  return (
    <tr role="row" id={rowId(id)} class="tow-row left">
      <th scope="row" role="rowheader">
        <Ref>{id}</Ref>
      </th>
      <td role="cell" colspan={6}>
        {viewer.words.violations.archived}
      </td>
    </tr>
  );
}

function Cell({ name, children }: { name: string; children: Child }) {
  return (
    <td role="cell" class={name}>
      {children}
    </td>
  );
}

function rowId(id: string): string {
  return `violation-${encodeURIComponent(id)}`;
}

/** The page of a violation, by any of its names. */
export function violationPath(id: string): string {
  return `/violations/${encodeURIComponent(id)}`;
}
