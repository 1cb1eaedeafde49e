import { OPERATIONS } from '../../contracts/operations';
import { readFields } from '../fields';
import { REFUSALS } from '../refusals';
import type { TowStatus } from '../world';
import { findTow, towData, type Handler } from './handling';

/** The status updates of a tow (service-api 4.2). Any order and any repetition is accepted: none is documented. */
export const started = statusUpdate('started');
export const detained = statusUpdate('detained');
export const canceled = statusUpdate('canceled');
export const released = statusUpdate('released');

function statusUpdate(status: TowStatus): Handler {
  return ({ fields }, { world }) => {
    const read = readFields(fields, { schema: OPERATIONS[status].request, zones: world });
    if ('refusal' in read) return read;
    const found = findTow(world, read.value);
    if ('refusal' in found) return found;
    const { tow } = found;
    if (status === 'started' && world.violation(tow.violationReference)?.plateNumber === null) {
      return { refusal: REFUSALS.plateNotFound, field: 'violation_reference_id' };
    }
    world.recordStatus(tow, status);
    return { data: towData(tow) };
  };
}
