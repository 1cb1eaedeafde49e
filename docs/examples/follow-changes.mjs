// Follows the changes of towhook and prints each one; `apply` is where your software acts. Run it with Node 20 or newer:
//   TOWHOOK_URL=http://127.0.0.1:3001 TOWHOOK_API_KEY=… node follow-changes.mjs
import { readFile, rename, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

const { TOWHOOK_URL = 'http://127.0.0.1:3001', TOWHOOK_API_KEY = '', STATE_FILE = 'changes.json' } = process.env;

async function call(path) {
  const answer = await fetch(`${TOWHOOK_URL}${path}`, { headers: { authorization: `Bearer ${TOWHOOK_API_KEY}` } });
  const body = await answer.json();
  if (!answer.ok && answer.status !== 410) throw new Error(`${path}: ${body.code}: ${body.message}`);
  return { body, isExpired: answer.status === 410 };
}

/** What your software does with a tow, and with a change. It must bear to see the same one twice. */
const applyTow = (tow) => console.log(`tow ${tow.towing_reference_id} is ${tow.state}`);
const apply = (change) =>
  console.log(`${change.at} ${change.type} ${change.subject?.id ?? ''} ${JSON.stringify(change.data)}`);

async function readAllTows() {
  for (let cursor = ''; cursor !== null;) {
    const { body } = await call(`/api/tows?limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    body.items.forEach(applyTow);
    cursor = body.next_cursor;
  }
}

/** Throws when a change of a record is missing: each has the number after the one before. */
function check(change, state) {
  if (change.sequence === null) return;
  const name = `${change.subject.kind}:${change.subject.id}`;
  const last = state.sequences[name] ?? change.sequence - 1;
  if (change.sequence > last + 1) throw new Error(`changes of ${name} are missing after ${last}`);
  state.sequences[name] = change.type.endsWith('.archived') ? 0 : change.sequence;
}

let state = JSON.parse(await readFile(STATE_FILE, 'utf8').catch(() => 'null'));
for (;;) {
  try {
    const { body, isExpired } = await call(
      state ? `/api/changes?after=${state.cursor}&limit=1000&wait=25` : '/api/changes',
    );
    if (isExpired || !state) {
      // First the cursor, then the lists: what changes meanwhile comes after it.
      await readAllTows();
      state = { cursor: body.next_cursor, sequences: {} };
    } else {
      for (const change of body.items) {
        check(change, state);
        apply(change);
      }
      state.cursor = body.next_cursor;
    }
    // A kill between these two leaves the former state, never half of one.
    await writeFile(`${STATE_FILE}.new`, JSON.stringify(state));
    await rename(`${STATE_FILE}.new`, STATE_FILE);
  } catch (error) {
    console.error(error.message);
    await pause(2000);
  }
}
