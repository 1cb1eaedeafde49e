import { violationPath } from '../../page-table';
import { isSettled } from '../../../domain/outbox/outbox';
import { Cell } from '../../parts/list';
import { Age, Plate, Ref } from '../../parts/text';
import { ShortErrorText } from '../../parts/error-text';
import { ViolationState } from '../../parts/states';
import type { Viewer } from '../../viewer';
import type { ShownRow } from '../../api-calls';
import type { ViolationView } from '../../../contracts/violation/violations';

/**
 * The violations: a table on a desk, cards on a phone, from the same elements. Their roles are written down, since a table
 * that is laid out as cards would no longer be read out as one.
 */
export function ViolationTable({ viewer, rows }: { viewer: Viewer; rows: readonly ShownRow<ViolationView>[] }) {
  const { heads, table } = viewer.messages.violations;
  return (
    <table class="tows violations" role="table">
      <caption class="visually-hidden">{table}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {[
            viewer.messages.terms.operations.violation,
            viewer.messages.terms.plate,
            heads.type,
            viewer.messages.terms.zone,
            viewer.messages.terms.state,
            heads.tows,
            heads.age,
          ]
            .filter((head) => head !== viewer.messages.terms.zone || !viewer.isInField)
            .map((head) => (
              <th scope="col" role="columnheader">
                {head}
              </th>
            ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map(({ id, record, matches }) =>
          record === null ? (
            <GoneRow viewer={viewer} id={id} />
          ) : (
            <Row viewer={viewer} record={record} matches={matches} />
          ),
        )}
      </tbody>
    </table>
  );
}

function Row({ viewer, record, matches }: { viewer: Viewer; record: ViolationView; matches: boolean }) {
  const { form, violation_reference_id: reference, towing_reference_ids: tows } = record;
  const messages = viewer.messages.violations;
  return (
    <tr role="row" id={rowId(record.id)} class={matches ? 'tow-row' : 'tow-row left'}>
      <th scope="row" role="rowheader">
        <a href={violationPath(record.id)} data-row-link>
          <Ref>{reference ?? record.id}</Ref>
        </a>
        {reference === null && <span class="under">{messages.noReference}</span>}
        {reference !== null && !viewer.isInField && (
          <span class="under">
            <Ref>{record.metadata_id}</Ref>
          </span>
        )}
        {!matches && <span class="under">{viewer.messages.common.left}</span>}
      </th>
      <Cell name="plate-cell">
        <Plate plate={form.plateNumber} />
      </Cell>
      <Cell name="type">
        {form.violationType === undefined ? '' : viewer.messages.terms.violationTypes[form.violationType]}
      </Cell>
      {!viewer.isInField && (
        <Cell name="zone-cell">
          {form.zoneId !== undefined && (
            <span class="zone" dir="ltr" title={form.zoneId}>
              <Ref>{form.zoneId}</Ref>
            </span>
          )}
        </Cell>
      )}
      <Cell name="state">
        <ViolationState viewer={viewer} status={record} />
        <ServiceMessage viewer={viewer} record={record} />
      </Cell>
      <Cell name="its-tows">
        {tows.length === 0 ? (
          <span class="muted">{messages.noTows}</span>
        ) : (
          tows.map((ref) => (
            <a class="its-tow" href={`/tows/${encodeURIComponent(ref)}`}>
              <Ref>{ref}</Ref>
            </a>
          ))
        )}
      </Cell>
      <Cell name="age">
        <Age viewer={viewer} since={record.created_at} />
      </Cell>
    </tr>
  );
}

/** What the service, or the wire, said last, of one that is not settled. */
function ServiceMessage({ viewer, record }: { viewer: Viewer; record: ViolationView }) {
  const { state, last_error: error } = record;
  if (error === null || isSettled(state)) return null;
  return (
    <p class={state === 'pending' ? 'waits' : 'waits decide'}>
      <ShortErrorText viewer={viewer} error={error} />
    </p>
  );
}

/** What left for the archive while it was shown keeps its place. */
function GoneRow({ viewer, id }: { viewer: Viewer; id: string }) {
  return (
    <tr role="row" id={rowId(id)} class="tow-row left">
      <th scope="row" role="rowheader">
        <Ref>{id}</Ref>
      </th>
      <td role="cell" colspan={viewer.isInField ? 5 : 6}>
        {viewer.messages.common.archived}
      </td>
    </tr>
  );
}

function rowId(id: string): string {
  return `violation-${encodeURIComponent(id)}`;
}
