// @ts-check
/** A calendar in Riyadh time (UTC+3 all year) in place of a moment in words; what is sent keeps its offset. */

const OFFSET_MS = 3 * 3_600_000;

export function showCalendar() {
  const field = document.querySelector('#report-form input[name="date"]');
  if (!(field instanceof HTMLInputElement)) return;
  const ms = field.value === '' ? null : Date.parse(field.value);
  // What is no moment is shown as it was entered.
  if (ms !== null && Number.isNaN(ms)) return;
  const sent = document.createElement('input');
  sent.type = 'hidden';
  sent.name = field.name;
  sent.value = field.value;
  field.after(sent);
  field.removeAttribute('name');
  // A calendar takes no offset, not even for a moment.
  field.value = '';
  field.type = 'datetime-local';
  field.value = ms === null ? '' : new Date(ms + OFFSET_MS).toISOString().slice(0, 16);
  field.addEventListener('input', () => {
    const { value } = field;
    sent.value = value === '' ? '' : `${value.length === 16 ? `${value}:00` : value}+03:00`;
  });
}
