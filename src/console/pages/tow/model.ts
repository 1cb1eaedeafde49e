import { towPath } from '../../page-table';
import type { TowNow } from '../../../contracts/operator';
import { allowedFacts, type AllowedFact } from '../../../domain/allowed-facts';
import { countedState } from '../../../domain/stored-tow';
import type { FactContext } from '../../../domain/fact-command';
import { waitingOfReport, type ReportWaiting, type Waiting } from '../../../domain/waiting';
import { towNowOf } from '../../../workflow/views';
import type { PageResult, FormFailure, ImageSettings, PageVisit, PageTools } from '../../page';
import { waitingOfTow } from '../../parts/why';
import type { Viewer } from '../../viewer';
import type { Report, TowReadModel } from '../../../workflow/read-models';

/** A tow as its page shows it to one viewer. */
export interface TowModel {
  readonly viewer: Viewer;
  /** The address of the page and prefix of its forms. */
  readonly path: string;
  readonly record: TowReadModel;
  readonly view: TowNow;
  readonly allowed: readonly AllowedFact[];
  /** The facts that the role `ops` could record. */
  readonly possible: readonly AllowedFact[];
  readonly waiting: Waiting;
  /** Plates to mask in texts. */
  readonly personal: readonly string[];
  /** Of an upload of photos. */
  readonly imageSettings: ImageSettings;
  readonly failure: FormFailure | null;
}

/** Reads a tow and works out what its page needs; null when there is none. */
export async function readTow(
  { progress, settings }: Pick<PageTools, 'progress' | 'settings'>,
  visit: PageVisit,
  failure: FormFailure | null = null,
): Promise<TowModel | null> {
  const ref = visit.params('ref');
  const record = await progress.tows.read(ref);
  if (!record) return null;
  const { tow, readAtMs: nowMs } = record;
  const reports = record.reports.map((report) => ({ ...report, state: countedState(report.state, record.shadow) }));
  const { rules } = progress;
  const view = towNowOf(record, rules);
  // The page shows one time, that of Redis. A fact is decided by the clock of the process.
  const context: FactContext = { reports, rules, by: visit.actor.name, role: visit.actor.role, clockMs: nowMs };
  return {
    viewer: visit.viewer,
    path: towPath(ref),
    record,
    view,
    allowed: allowedFacts(tow, context),
    possible: allowedFacts(tow, { ...context, role: 'ops' }),
    waiting: waitingOfTow(view, nowMs),
    personal: platesOf(record),
    imageSettings: settings.images,
    failure,
  };
}

/** Why a report of the tow waits; null when it is settled. */
export function waitingOf({ record }: TowModel, report: Report): ReportWaiting | null {
  return waitingOfReport(report, { reports: record.reports, tasks: record.tasks, nowMs: record.readAtMs });
}

/** The current and the reported plates. */
function platesOf({ tow, reports }: TowReadModel): string[] {
  const reported = reports.map(({ body }) => body['plate_number']);
  return [tow.plateNumber, ...reported].filter((plate) => typeof plate === 'string');
}

/** Shows the page of the tow, after a refusal with its reason. */
export type ShowTow = (visit: PageVisit, failure?: FormFailure | null) => Promise<PageResult>;

export type TowPageTools = PageTools & { readonly show: ShowTow };
