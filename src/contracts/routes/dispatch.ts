import { z } from 'zod';
import * as dispatch from '../dispatch';
import { towView } from '../operator';
import type { Route } from './route';

/** The operator's own records of a tow, which are never sent to the service. */

const TOW = '/api/tows/:towing_reference_id';
/** 202 like the other changes of a tow, although nothing is sent. */
const recorded = { method: 'post', role: 'crew', status: 202, answer: towView } as const;

export const DISPATCH_ROUTES = {
  assignTow: {
    ...recorded,
    path: `${TOW}/assignment`,
    role: 'dispatcher',
    summary: 'Assign a tow to a crew and a truck; with crew null remove the assignment.',
    body: dispatch.assignmentBody,
  },
  recordStep: {
    ...recorded,
    path: `${TOW}/steps`,
    summary: 'A step of the crew on its way: accepted, en_route, on_scene, hooked.',
    body: dispatch.stepBody,
  },
  setYard: {
    ...recorded,
    path: `${TOW}/yard`,
    summary: 'The yard and slot of the vehicle.',
    body: dispatch.yardBody,
  },
  placeHold: {
    ...recorded,
    path: `${TOW}/holds`,
    role: 'dispatcher',
    summary: 'Block payment and release until the hold is lifted.',
    body: dispatch.holdBody,
  },
  liftHold: {
    ...recorded,
    path: `${TOW}/holds/:hold_id/lift`,
    role: 'dispatcher',
    summary: 'Lift a hold.',
    body: dispatch.liftBody,
  },
  addNote: {
    ...recorded,
    path: `${TOW}/notes`,
    summary: 'A note for everybody who looks at the tow.',
    body: dispatch.noteBody,
  },
  addPhotos: {
    ...recorded,
    path: `${TOW}/photos`,
    takes: 'form',
    summary:
      'Photos of the vehicle, at most `IMAGES_TOTAL_BYTES_MAX` bytes in all; they are kept here and go nowhere else.',
    body: z.strictObject({}),
  },
  readPhoto: {
    method: 'get',
    path: `${TOW}/photos/:photo_id`,
    role: 'viewer',
    gives: 'image',
    summary: 'One photo.',
    status: 200,
    answer: z.null(),
  },
} as const satisfies Record<string, Route>;
