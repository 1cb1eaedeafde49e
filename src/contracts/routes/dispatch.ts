import { z } from 'zod';
import * as dispatch from '../dispatch';
import { towView } from '../operator';
import type { Route } from './route';

/** What an operator keeps of a tow for itself; nothing of it is told to the service. */

const TOW = '/api/tows/:towing_reference_id';
const kept = { method: 'post', role: 'crew', status: 202, answer: towView } as const;

export const DISPATCH_ROUTES = {
  assignTow: {
    ...kept,
    path: `${TOW}/assignment`,
    role: 'dispatcher',
    summary: 'Give a tow to a crew and a truck, to another one, or, with crew null, to nobody.',
    body: dispatch.assignmentBody,
  },
  recordStep: {
    ...kept,
    path: `${TOW}/steps`,
    summary: 'A step of the crew on its way: accepted, en_route, on_scene, hooked.',
    body: dispatch.stepBody,
  },
  setYard: {
    ...kept,
    path: `${TOW}/yard`,
    summary: 'In which yard and slot the vehicle stands.',
    body: dispatch.yardBody,
  },
  placeHold: {
    ...kept,
    path: `${TOW}/holds`,
    role: 'dispatcher',
    summary: 'Block payment and release until the hold is lifted.',
    body: dispatch.holdBody,
  },
  liftHold: {
    ...kept,
    path: `${TOW}/holds/:hold_id/lift`,
    role: 'dispatcher',
    summary: 'Lift a hold.',
    body: dispatch.liftBody,
  },
  addNote: {
    ...kept,
    path: `${TOW}/notes`,
    summary: 'A note for everybody who looks at the tow.',
    body: dispatch.noteBody,
  },
  addPhotos: {
    ...kept,
    path: `${TOW}/photos`,
    takes: 'form',
    summary: 'Photos of the vehicle, at most 10 MiB in all; they are kept here and go nowhere else.',
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
