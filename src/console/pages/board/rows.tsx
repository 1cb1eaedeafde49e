import type { Child } from 'hono/jsx';
import type { Report, TowRecord } from '../../../contracts/records';
import { isSettled } from '../../../domain/outbox';
import type { TowRules } from '../../../domain/fact-command';
import { ageOf, overdueOf } from '../../../domain/overdue';
import type { TowState } from '../../../domain/vocabulary';
import { ReportBadge } from '../../parts/report-state';
import { Badge, Plate, Ref, type Tone } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { TickingAge } from './age';
import { Crew, type AssignTools } from './assign';
import type { BoardRow } from './read';
import { Waits } from './waits';

export interface RowTools extends AssignTools {
  readonly rules: TowRules;
}

/**
 * The tows: a table on a desk, cards on a phone, from the same elements. Their roles are written down, since a table that
 * is laid out as cards would no longer be read out as one.
 */
export function TowTable({ tools, rows }: { tools: RowTools; rows: readonly BoardRow[] }) {
  const { heads, table } = tools.viewer.words.board;
  return (
    <table class="tows" role="table">
      <caption class="visually-hidden">{table}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {[heads.tow, heads.plate, heads.place, heads.state, heads.crew, heads.reports].map((head) => (
            <th scope="col" role="columnheader">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map(({ ref, record, passes }) =>
          record === null ? (
            <GoneRow viewer={tools.viewer} towRef={ref} />
          ) : (
            <TowRow tools={tools} record={record} passes={passes} />
          ),
        )}
      </tbody>
    </table>
  );
}

function TowRow({ tools, record, passes }: { tools: RowTools; record: TowRecord; passes: boolean }) {
  const { viewer } = tools;
  const { tow, reports } = record;
  const words = viewer.words.board;
  const ref = tow.towingReferenceId;
  return (
    <tr role="row" id={rowId(ref)} class={passes ? 'tow-row' : 'tow-row left'}>
      <th scope="row" role="rowheader">
        <a href={`/tows/${encodeURIComponent(ref)}`} data-row-link>
          <Ref>{ref}</Ref>
        </a>
        <span class="under">
          <Ref>{tow.violationReferenceId}</Ref>
        </span>
        {!passes && <span class="under">{words.left}</span>}
      </th>
      <Cell name="plate-cell">
        {tow.plateNumber === null ? <Unknown>{words.noPlate}</Unknown> : <Plate plate={tow.plateNumber} />}
      </Cell>
      <Cell name="place">
        {tow.towedLocation === null ? (
          <Unknown>{words.noPlace}</Unknown>
        ) : (
          <span class="place-name" dir="auto" title={tow.towedLocation}>
            {tow.towedLocation}
          </span>
        )}
        {tow.zoneId !== null && (
          <span class="under zone" title={tow.zoneId}>
            {words.zone} <Ref>{tow.zoneId}</Ref>
          </span>
        )}
      </Cell>
      <Cell name="state">
        <StateMarks tools={tools} record={record} />
      </Cell>
      <Cell name="crew">
        <Crew {...tools} towRef={ref} assignment={tow.dispatch.assignment} />
      </Cell>
      <Cell name="reports">
        <Reports viewer={viewer} reports={reports} />
        <Waits viewer={viewer} record={record} rules={tools.rules} />
      </Cell>
    </tr>
  );
}

/** What left for the archive while it was shown keeps its place. */
function GoneRow({ viewer, towRef }: { viewer: Viewer; towRef: string }) {
  return (
    <tr role="row" id={rowId(towRef)} class="tow-row left">
      <th scope="row" role="rowheader">
        <Ref>{towRef}</Ref>
      </th>
      <td role="cell" colspan={5}>
        {viewer.words.board.archived}
      </td>
    </tr>
  );
}

function StateMarks({ tools: { viewer, rules }, record }: { tools: RowTools; record: TowRecord }) {
  const { terms, board } = viewer.words;
  const { tow, tasks, readAtMs } = record;
  const { sinceMs } = ageOf(tow, readAtMs);
  const marks = overdueOf(record, rules.overdueAfter, readAtMs);
  const isHeld = tow.dispatch.holds.some(({ lifted }) => lifted === null);
  return (
    <>
      <span class="standing">
        <Badge tone={TONES[tow.state]}>{terms.towStates[tow.state]}</Badge>{' '}
        <TickingAge viewer={viewer} sinceMs={sinceMs} nowMs={readAtMs} />
      </span>
      {marks.length + tasks.length > 0 || isHeld ? (
        <span class="marks">
          {marks.map(({ what }) => (
            <Badge tone="bad">{board.late[what]}</Badge>
          ))}
          {tasks.length > 0 && <Badge tone="bad">{board.tasks(tasks.length)}</Badge>}
          {isHeld && <Badge tone="wait">{board.hold}</Badge>}
        </span>
      ) : null}
    </>
  );
}

const TONES: Readonly<Record<TowState, Tone>> = {
  requested: 'wait',
  started: 'busy',
  detained: 'busy',
  released: 'good',
  canceled: 'quiet',
};

function Reports({ viewer, reports }: { viewer: Viewer; reports: readonly Report[] }) {
  if (reports.length === 0) return <span class="muted">{viewer.words.board.noReports}</span>;
  // Only the head of an outbox has a time of its own.
  const head = reports.find(({ state }) => !isSettled(state));
  return (
    <ul class="report-list">
      {reports.map((report) => (
        <li>
          <ReportBadge
            viewer={viewer}
            standing={{
              ...report,
              isInFlight: report.inFlight,
              nextAtMs: report === head ? report.nextAttemptAtMs : null,
            }}
          />
        </li>
      ))}
    </ul>
  );
}

function Cell({ name, children }: { name: string; children: Child }) {
  return (
    <td role="cell" class={name}>
      {children}
    </td>
  );
}

function Unknown({ children }: { children: string }) {
  return <span class="muted">{children}</span>;
}

/** Where an address with this behind `#` leads. */
export function rowId(towRef: string): string {
  return `tow-${encodeURIComponent(towRef)}`;
}
