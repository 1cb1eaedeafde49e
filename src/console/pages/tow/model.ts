import type { TowView } from '../../../contracts/operator';
import type { Report, TowRecord } from '../../../contracts/records';
import { allowedFacts, type AllowedFact } from '../../../domain/allowed-facts';
import type { FactContext } from '../../../domain/fact-command';
import { overdueOf, type OverdueMark } from '../../../domain/overdue';
import { releaseChecklist, type ReleaseCheck } from '../../../domain/release-checklist';
import { waitingOfReport, type ReportWaiting, type Waiting } from '../../../domain/waiting';
import { towViewOf } from '../../../workflow/tow-view';
import type { Failure } from '../../answers';
import { waitingOfTow } from '../../parts/why';
import type { Visit } from '../../serve';
import type { PageTools } from '../../tools';
import type { Viewer } from '../../viewer';

/** A tow as its page shows it, to whoever looks at it. */
export interface TowModel {
  readonly viewer: Viewer;
  /** The address of the page; those of its forms begin with it. */
  readonly path: string;
  readonly record: TowRecord;
  readonly view: TowView;
  readonly allowed: readonly AllowedFact[];
  /** What whoever may say most could say: of a tow that is over, nothing, unless something is still to come. */
  readonly possible: readonly AllowedFact[];
  readonly checklist: readonly ReleaseCheck[];
  readonly waiting: Waiting;
  readonly overdue: readonly OverdueMark[];
  /** What is personal in texts that are shown masked. */
  readonly personal: readonly string[];
  readonly failure: Failure | null;
}

/** Reads a tow and works out what its page needs; null when there is none. */
export async function readTow(
  { progress }: Pick<PageTools, 'progress'>,
  visit: Visit,
  failure: Failure | null = null,
): Promise<TowModel | null> {
  const ref = visit.params('ref');
  const record = await progress.tows.read(ref);
  if (!record) return null;
  const { tow, reports, readAtMs: nowMs } = record;
  const { rules } = progress;
  const context: FactContext = { reports, rules, by: visit.actor.name, role: visit.actor.role, nowMs };
  return {
    viewer: visit.viewer,
    path: towPath(ref),
    record,
    view: towViewOf(record),
    allowed: allowedFacts(tow, context),
    possible: allowedFacts(tow, { ...context, role: 'ops' }),
    checklist: releaseChecklist(tow, context),
    waiting: waitingOfTow(record, rules),
    overdue: overdueOf(record, rules.overdueAfter, nowMs),
    personal: platesOf(record),
    failure,
  };
}

/** The page of a tow. */
export function towPath(ref: string): string {
  return `/tows/${encodeURIComponent(ref)}`;
}

/** Why a report of the tow waits; null when it is settled. */
export function waitingOf({ record }: TowModel, report: Report): ReportWaiting | null {
  return waitingOfReport(report, { reports: record.reports, tasks: record.tasks, nowMs: record.readAtMs });
}

/** The plate as it is, and as it was reported. */
function platesOf({ tow, reports }: TowRecord): string[] {
  const reported = reports.map(({ body }) => body['plate_number']);
  return [tow.plateNumber, ...reported].filter((plate) => typeof plate === 'string');
}
