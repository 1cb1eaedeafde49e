import { ROUTES } from '../../../contracts/operator-routes';
import type { ViolationDetail } from '../../../contracts/violation/violations';
import { PERSON_FIELDS } from '../../../domain/violation/violation';
import { waitingOfViolation, type ViolationWaiting } from '../../../domain/outbox/waiting';
import type { FormFailure, ImageSettings, PageVisit, PageTools } from '../../page';
import { callOf } from '../../parts/why';
import { readRecord } from '../../api-calls';
import type { Viewer } from '../../viewer';
import { violationPath } from '../../page-table';

/** A violation as its page shows it to one viewer. */
export interface ViolationModel {
  readonly viewer: Viewer;
  /** The address of the page; those of its forms begin with it. */
  readonly path: string;
  readonly view: ViolationDetail;
  readonly waiting: ViolationWaiting;
  readonly imageSettings: ImageSettings;
  /** What is personal in texts that are shown masked. */
  readonly personal: readonly string[];
  readonly failure: FormFailure | null;
}

/** Reads a violation by any of its names; null when there is none. */
export function readViolation({ api }: Pick<PageTools, 'api'>, { actor, params }: PageVisit) {
  return readRecord(api, ROUTES.readViolation, { actor, params: { violation_id: params('id') } });
}

/** Works out what the page of a violation needs; null when there is none. */
export async function readModel(
  tools: Pick<PageTools, 'api' | 'settings'>,
  visit: PageVisit,
  failure: FormFailure | null,
): Promise<ViolationModel | null> {
  const view = await readViolation(tools, visit);
  if (!view) return null;
  const { viewer } = visit;
  const { id, state, form, tasks } = view;
  return {
    viewer,
    path: violationPath(id),
    view,
    waiting: waitingOfViolation({ ...callOf(view), id, state, tasks, nowMs: viewer.nowMs }),
    imageSettings: tools.settings.images,
    personal: [form.plateNumber, ...PERSON_FIELDS.map((name) => form[name])].filter((text) => text !== undefined),
    failure,
  };
}

/** True once nothing more will happen to it: the service has it, or a person gave it up. */
export function isConcluded({ view: { state } }: Pick<ViolationModel, 'view'>): boolean {
  return state === 'accepted' || state === 'waived';
}
