import type { Task } from '../../../contracts/records';
import type { ViolationView } from '../../../contracts/violations';
import { PERSON_FIELDS } from '../../../domain/violation';
import { violationTaskIds } from '../../../domain/violation-tasks';
import { waitingOfViolation, type ViolationWaiting } from '../../../domain/waiting-violation';
import { violationViewOf } from '../../../workflow/views';
import type { FormFailure, ImageSettings, PageVisit, PageTools } from '../../page';
import type { Viewer } from '../../viewer';
import { violationPath } from '../../page-table';
import type { ViolationReadModel } from '../../../workflow/read-models';

/** A violation as its page shows it to one viewer. */
export interface ViolationModel {
  readonly viewer: Viewer;
  /** The address of the page; those of its forms begin with it. */
  readonly path: string;
  readonly record: ViolationReadModel;
  readonly view: ViolationView;
  readonly waiting: ViolationWaiting;
  /** Open tasks about it; the question whether it is sent is the first of them. */
  readonly tasks: readonly Task[];
  /** Numbers of the images that are on the disk, from 1. */
  readonly imagesThere: readonly number[];
  readonly imageSettings: ImageSettings;
  /** What is personal in texts that are shown masked. */
  readonly personal: readonly string[];
  readonly failure: FormFailure | null;
}

/** Reads a violation by any of its names and works out what its page needs; null when there is none. */
export async function readModel(
  tools: Pick<PageTools, 'violations' | 'tasks' | 'spool' | 'images'>,
  { viewer, params }: PageVisit,
  failure: FormFailure | null,
): Promise<ViolationModel | null> {
  const record = await tools.violations.read(params('id'));
  if (!record) return null;
  const { violation } = record;
  const [tasks, imagesThere] = await Promise.all([tasksOf(tools, violation.id), imagesOf(tools, record)]);
  const { form } = violation;
  return {
    viewer,
    path: violationPath(violation.id),
    record,
    view: violationViewOf(record),
    waiting: waitingOfViolation({ ...record, id: violation.id, tasks, nowMs: viewer.nowMs }),
    tasks,
    imagesThere,
    imageSettings: tools.images,
    personal: [form.plateNumber, ...PERSON_FIELDS.map((name) => form[name])].filter((text) => text !== undefined),
    failure,
  };
}

/** True once nothing more will happen to it: the service has it, or a person gave it up. */
export function isConcluded({ record }: Pick<ViolationModel, 'record'>): boolean {
  const { state } = record;
  return state === 'accepted' || state === 'waived';
}

async function tasksOf({ tasks }: Pick<PageTools, 'tasks'>, id: string): Promise<Task[]> {
  return (await Promise.all(violationTaskIds(id).map((each) => tasks.read(each)))).filter((task) => task !== null);
}

/** The images leave the disk once the violation is settled; a disk that does not tell counts as one without them. */
async function imagesOf({ spool }: Pick<PageTools, 'spool'>, record: ViolationReadModel): Promise<number[]> {
  if (isConcluded({ record })) return [];
  const { violation } = record;
  const places = await Promise.all(
    violation.images.map((image) => spool.pathOf({ kind: 'violation', id: violation.id }, image).catch(() => null)),
  );
  return places.flatMap((place, index) => (place === null ? [] : [index + 1]));
}
