import { z } from 'zod';
import * as operator from '../operator';
import { page } from '../paging';
import { runItemsQuery, runItemView, runPreviewBody, runView } from '../ops/runs';
import { CHANGE, READ, type Route } from './route';

/** Runs: one action on many tasks or deliveries. */

const RUN_FIELDS = 'id action state by started_by previewed_at started_at ended_at total counts';

export const RUN_ROUTES = {
  previewRun: {
    ...CHANGE,
    path: '/api/runs',
    role: 'dispatcher',
    summary:
      'Choose at most 10,000 tasks or deliveries and one action for all of them. Shows what is possible; nothing is done before the start.',
    body: runPreviewBody,
    answer: runView,
    command: 'run preview <action>',
    shows: RUN_FIELDS,
  },
  listRuns: {
    ...READ,
    path: '/api/runs',
    summary: 'The newest runs of all people; a preview is kept for an hour, a run for a day.',
    answer: z.object({ items: z.array(runView) }),
    command: 'run list',
    shows: 'id action state total counts.done by previewed_at',
  },
  readRun: {
    ...READ,
    path: '/api/runs/:run_id',
    summary: 'A run with its state and the number of items per outcome.',
    answer: runView,
    command: 'run show <run_id>',
    shows: RUN_FIELDS,
  },
  listRunItems: {
    ...READ,
    path: '/api/runs/:run_id/items',
    summary: 'The items of a run with their outcomes, in the order of the run.',
    query: runItemsQuery,
    answer: page(runItemView),
    command: 'run items <run_id>',
    shows: 'id type towing_reference_id outcome message',
  },
  startRun: {
    ...CHANGE,
    path: '/api/runs/:run_id/start',
    role: 'dispatcher',
    summary: 'Start a previewed run, as the person who previewed it or as ops. Workers carry out each item once.',
    body: operator.emptyBody,
    answer: runView,
    command: 'run start <run_id>',
    shows: RUN_FIELDS,
  },
  abortRun: {
    ...CHANGE,
    path: '/api/runs/:run_id/abort',
    role: 'dispatcher',
    summary: 'End a run: what was done stays, and no further item is carried out.',
    body: operator.emptyBody,
    answer: runView,
    command: 'run abort <run_id>',
    shows: RUN_FIELDS,
  },
} as const satisfies Record<string, Route>;
