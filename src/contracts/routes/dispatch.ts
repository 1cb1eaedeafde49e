import { z } from 'zod';
import * as dispatch from '../tow/dispatch';
import { towView } from '../operator';
import { CHANGE, READ, type Route, TOW_TEXT } from './route';

/** The operator's own records of a tow, which are never sent to the service. */

const TOW = '/api/tows/:towing_reference_id';
/** 202 like the other changes of a tow, although nothing is sent. */
const recorded = { ...CHANGE, role: 'crew', answer: towView, shows: TOW_TEXT } as const;

export const DISPATCH_ROUTES = {
  assignTow: {
    ...recorded,
    path: `${TOW}/assignment`,
    role: 'dispatcher',
    summary: 'Assign a tow to a crew and a truck; with crew null remove the assignment.',
    body: dispatch.assignmentBody,
    command: 'tow assign <towing_reference_id> [crew]',
  },
  recordStep: {
    ...recorded,
    path: `${TOW}/steps`,
    summary: 'Record a step of the crew on its way: accepted, en_route, on_scene, hooked.',
    body: dispatch.stepBody,
    command: 'tow step <towing_reference_id> <step>',
  },
  setYard: {
    ...recorded,
    path: `${TOW}/yard`,
    summary: 'Record the yard and slot of the vehicle.',
    body: dispatch.yardBody,
    command: 'tow yard <towing_reference_id> <yard>',
  },
  placeHold: {
    ...recorded,
    path: `${TOW}/holds`,
    role: 'dispatcher',
    summary: 'Block payment and release until the hold is lifted.',
    body: dispatch.holdBody,
    command: 'tow hold <towing_reference_id>',
  },
  liftHold: {
    ...recorded,
    path: `${TOW}/holds/:hold_id/lift`,
    role: 'dispatcher',
    summary: 'Lift a hold.',
    body: dispatch.liftBody,
    command: 'tow lift <towing_reference_id> <hold_id>',
  },
  addNote: {
    ...recorded,
    path: `${TOW}/notes`,
    summary: 'Add a note for everybody who looks at the tow.',
    body: dispatch.noteBody,
    command: 'tow note <towing_reference_id> <text>',
  },
  addPhotos: {
    ...recorded,
    path: `${TOW}/photos`,
    takes: 'form',
    summary:
      'Add photos of the vehicle, at most `IMAGES_TOTAL_BYTES_MAX` bytes in all; they are kept here and go nowhere else.',
    body: z.strictObject({}),
    command: 'tow photos <towing_reference_id>',
  },
  readPhoto: {
    ...READ,
    path: `${TOW}/photos/:photo_id`,
    gives: 'image',
    summary: 'One photo.',
    answer: z.null(),
    command: 'tow photo <towing_reference_id> <photo_id>',
  },
} as const satisfies Record<string, Route>;
