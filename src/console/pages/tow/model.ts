import { towPath } from '../../page-table';
import type { ReportView, TowNow, TowView } from '../../../contracts/operator';
import { ROUTES } from '../../../contracts/operator-routes';
import { allowedFacts, type AllowedFact } from '../../../domain/tow/allowed-facts';
import { reportsOf } from '../../../domain/tow/stored-tow';
import type { FactContext } from '../../../domain/tow/fact-command';
import { waitingOfReport, type ReportWaiting, type Waiting } from '../../../domain/outbox/waiting';
import type { PageResult, FormFailure, ImageSettings, PageVisit, PageTools } from '../../page';
import { reportCallOf, waitingOfTow } from '../../parts/why';
import { readRecord } from '../../api-calls';
import type { Viewer } from '../../viewer';

/** A tow as its page shows it to one viewer. */
export interface TowModel {
  readonly viewer: Viewer;
  /** The address of the page and prefix of its forms. */
  readonly path: string;
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

/** Reads the tow of a page; null when there is none. */
export function readTowView({ api }: Pick<PageTools, 'api'>, { actor, params }: PageVisit) {
  return readRecord(api, ROUTES.readTow, { actor, params: { towing_reference_id: params('ref') } });
}

/** Reads a tow and works out what its page needs; null when there is none. */
export async function readTow(
  { api, progress, settings }: Pick<PageTools, 'api' | 'progress' | 'settings'>,
  visit: PageVisit,
  failure: FormFailure | null = null,
): Promise<TowModel | null> {
  const ref = visit.params('ref');
  const [view, record] = await Promise.all([readTowView({ api }, visit), progress.tows.read(ref)]);
  if (!view || !record) return null;
  const { tow, readAtMs: nowMs } = record;
  const { rules } = progress;
  // The page shows one time, that of Redis. A fact is decided by the clock of the process.
  const context: FactContext = {
    reports: reportsOf(record),
    rules,
    by: visit.actor.name,
    role: visit.actor.role,
    clockMs: nowMs,
  };
  return {
    viewer: visit.viewer,
    path: towPath(ref),
    view,
    allowed: allowedFacts(tow, context),
    possible: allowedFacts(tow, { ...context, role: 'ops' }),
    waiting: waitingOfTow(view, visit.viewer.nowMs),
    personal: platesOf(view),
    imageSettings: settings.images,
    failure,
  };
}

/** Why a report of the tow waits; null when it is settled. */
export function waitingOf({ viewer, view }: TowModel, report: ReportView): ReportWaiting | null {
  const reports = view.reports.map(reportCallOf);
  return waitingOfReport(reportCallOf(report), { reports, tasks: view.tasks, nowMs: viewer.nowMs });
}

/** The current and the reported plates. */
function platesOf({ plate_number: plate, reports }: TowView): string[] {
  const reported = reports.map(({ body }) => body['plate_number']);
  return [plate, ...reported].filter((plate) => typeof plate === 'string');
}

/** Shows the page of the tow, after a refusal with its reason. */
export type ShowTow = (visit: PageVisit, failure?: FormFailure | null) => Promise<PageResult>;

export type TowPageTools = PageTools & { readonly show: ShowTow };
