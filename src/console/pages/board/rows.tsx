import type { ReportView, TowNow } from '../../../contracts/operator';
import { MINUTE_MS } from '../../../domain/timestamp';
import { Cell } from '../../parts/list';
import { ReportBadge, TowStateBadge } from '../../parts/states';
import { Badge, Plate, Ref } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { Crew, type AssignTools } from './assign';
import { GoneRow, type ShownRow } from '../../parts/live-list';
import { awaitsRelease, type CallWaiting } from '../../../domain/outbox/waiting';
import { formatted } from '../../messages';
import { ShortErrorText } from '../../parts/error-text';
import { blockName, waitingOfTow } from '../../parts/why';

/** The columns, in order; their names in the catalogues. The cells of `TowRow` have the same order. */
const COLUMNS = ['tow', 'plate', 'place', 'state', 'crew', 'reports'] as const;

/**
 * The tows: a table on a wide screen, cards on a narrow one, from the same elements. Explicit ARIA roles keep it a table
 * for screen readers when it is laid out as cards.
 */
export function TowTable({ tools, rows }: { tools: AssignTools; rows: readonly ShownRow<TowNow>[] }) {
  const { heads, table } = tools.viewer.messages.board;
  return (
    <table class="tows" role="table">
      <caption class="visually-hidden">{table}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {COLUMNS.map((column) => (
            <th scope="col" role="columnheader" class={`${column}-head`}>
              {heads[column]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map(({ id, record, matches }) =>
          record === null ? (
            <GoneRow viewer={tools.viewer} rowId={rowId(id)} name={id} columns={COLUMNS.length} />
          ) : (
            <TowRow tools={tools} tow={record} matches={matches} />
          ),
        )}
      </tbody>
    </table>
  );
}

function TowRow({ tools, tow, matches }: { tools: AssignTools; tow: TowNow; matches: boolean }) {
  const { viewer } = tools;
  const messages = viewer.messages.board;
  const ref = tow.towing_reference_id;
  return (
    <tr role="row" id={rowId(ref)} class={matches ? 'tow-row' : 'tow-row left'}>
      <th scope="row" role="rowheader">
        <a href={`/tows/${encodeURIComponent(ref)}`} data-row-link>
          <Ref>{ref}</Ref>
        </a>
        <span class="under">
          <Ref>{tow.violation_reference_id}</Ref>
        </span>
        {!matches && <span class="under">{viewer.messages.common.left}</span>}
      </th>
      <Cell name="plate-cell">
        {tow.plate_number === null ? (
          <Unknown>{viewer.messages.tow.noPlate}</Unknown>
        ) : (
          <Plate plate={tow.plate_number} />
        )}
      </Cell>
      <Cell name="place">
        {tow.towed_location === null ? (
          <Unknown>{messages.noPlace}</Unknown>
        ) : (
          <span class="place-name" dir="auto" title={tow.towed_location}>
            {tow.towed_location}
          </span>
        )}
        {tow.zone_id !== null && !viewer.isInField && (
          <span class="under zone" title={tow.zone_id}>
            {viewer.messages.terms.zone} <Ref>{tow.zone_id}</Ref>
          </span>
        )}
      </Cell>
      <Cell name="state">
        <StateMarks viewer={viewer} tow={tow} />
      </Cell>
      <Cell name="crew">
        <Crew {...tools} tow={tow} />
      </Cell>
      <Cell name="reports">
        <Reports viewer={viewer} reports={tow.reports} />
        <Waits viewer={viewer} tow={tow} />
      </Cell>
    </tr>
  );
}

function StateMarks({ viewer, tow }: { viewer: Viewer; tow: TowNow }) {
  const { board } = viewer.messages;
  const { tasks, overdue: marks } = tow;
  const isHeld = tow.dispatch.holds.some(({ lifted }) => lifted === null);
  return (
    <>
      <span class="standing">
        <TowStateBadge viewer={viewer} state={tow.state} /> <TickingAge viewer={viewer} since={tow.state_since} />
      </span>
      {marks.length + tasks.length > 0 || isHeld ? (
        <span class="marks">
          {marks.map(({ what }) => (
            <Badge tone="bad">{board.late[what]}</Badge>
          ))}
          {tasks.length > 0 && <Badge tone="bad">{board.tasks({ count: tasks.length })}</Badge>}
          {isHeld && <Badge tone="wait">{board.hold}</Badge>}
        </span>
      ) : null}
    </>
  );
}

function Reports({ viewer, reports }: { viewer: Viewer; reports: readonly ReportView[] }) {
  if (reports.length === 0) return <span class="muted">{viewer.messages.board.noReports}</span>;
  return (
    <ul class="report-list">
      {reports.map((report) => (
        <li>
          <ReportBadge viewer={viewer} report={report} />
        </li>
      ))}
    </ul>
  );
}

function Unknown({ children }: { children: string }) {
  return <span class="muted">{children}</span>;
}

/** The fragment id of a row. */
export function rowId(towRef: string): string {
  return `tow-${encodeURIComponent(towRef)}`;
}

/** What a tow waits for in a few words; the page of the tow has the whole sentence. Nothing of one that is over. */
function Waits({ viewer, tow }: { viewer: Viewer; tow: TowNow }) {
  const { terms, board } = viewer.messages;
  const { waits } = board;
  const waiting = waitingOfTow(tow, viewer.nowMs);
  if (waiting.kind === 'over') return null;
  if (waiting.kind === 'people') {
    const facts = waiting.facts.map((fact) => terms.operations[fact]);
    const factsText = awaitsRelease(waiting) ? waits.possible : viewer.messages.why.firstPeople;
    const next = facts.length > 0 ? factsText({ facts: viewer.formats.either(facts) }) : waits.tasksOnly;
    return <p class="waits">{[...waiting.blockers.map((blocker) => waits.blockers[blocker]), next].join(' · ')}</p>;
  }
  const because = waiting.kind === 'decision' || waiting.kind === 'next_try' ? waiting.because : null;
  return (
    <p class={waiting.kind === 'decision' ? 'waits decide' : 'waits'}>
      {waitsText(viewer, waiting, terms.operations[waiting.reportKind])}
      {because !== null && (
        <>
          {' · '}
          <ShortErrorText viewer={viewer} error={because} />
        </>
      )}
    </p>
  );
}

function waitsText(viewer: Viewer, waiting: CallWaiting, report: string): string {
  const { messages, formats, nowMs } = viewer;
  const { waits } = messages.board;
  switch (waiting.kind) {
    case 'on_its_way':
      return waits.sending({ report });
    case 'turn':
      return waits.turn({ report });
    case 'next_try':
      return waiting.attempts === 0 ? waits.first({ report }) : waits.again({ report });
    case 'proof':
      return waits.proof({ report });
    case 'blocked':
      if (waiting.queue) {
        const { place, of, leavesAtMs } = waiting.queue;
        const time = formats.duration(leavesAtMs - nowMs);
        return waits.place({ place: formats.number(place), of: formats.number(of), time });
      }
      // An operation that is paused and holds a report is of the report's own kind.
      return formatted(waits[blockName(viewer, waiting.by)], { report });
    case 'decision':
      return waits[waiting.why]({ report });
  }
}

/** How long a tow has been in its state, in whole minutes; `board.js` keeps it counting. */
function TickingAge({ viewer, since }: { viewer: Viewer; since: string }) {
  const { formats, nowMs } = viewer;
  return (
    <time datetime={since} title={`${formats.timestamp(since)} · ${formats.hover(since)}`} data-age>
      {ageText(viewer, nowMs - Date.parse(since))}
    </time>
  );
}

function ageText(viewer: Viewer, ageMs: number): string {
  const wholeMs = ageMs - (ageMs % MINUTE_MS);
  return wholeMs < MINUTE_MS ? viewer.messages.board.now : viewer.formats.duration(wholeMs);
}

/** The units that `board.js` writes ages with: `d|h|min|now`. */
export function ageUnits({ messages: { units, board } }: Viewer): string {
  return [units.days, units.hours, units.minutes, board.now].join('|');
}
