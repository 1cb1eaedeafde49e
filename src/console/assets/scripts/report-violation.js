// @ts-check
/** The form that reports a violation: sent in the background, with a calendar and the position of the device. */
import { enablePositionButtons, showPositions } from './position.js';
import { sendUploads } from './upload.js';

/** Riyadh is UTC+3 all year. */
const OFFSET_MS = 3 * 3_600_000;

showCalendar();
enablePositionButtons();
sendUploads(() => {
  showCalendar();
  showPositions();
});

/** Replaces the text field of the date by a calendar in Riyadh time. The sent value keeps its offset. */
function showCalendar() {
  const field = document.querySelector('#report-form input[name="date"]');
  if (!(field instanceof HTMLInputElement)) return;
  const ms = field.value === '' ? null : Date.parse(field.value);
  // Keep a value that is no timestamp as entered.
  if (ms !== null && Number.isNaN(ms)) return;
  const sent = document.createElement('input');
  sent.type = 'hidden';
  sent.name = field.name;
  sent.value = field.value;
  field.after(sent);
  field.removeAttribute('name');
  // A calendar rejects a value with an offset.
  field.value = '';
  field.type = 'datetime-local';
  field.value = ms === null ? '' : new Date(ms + OFFSET_MS).toISOString().slice(0, 16);
  // Not a change by the user (entries.js).
  field.defaultValue = field.value;
  field.addEventListener('input', () => {
    const { value } = field;
    sent.value = value === '' ? '' : `${value.length === 16 ? `${value}:00` : value}+03:00`;
  });
}
