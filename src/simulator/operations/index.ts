import type { OperationName } from '../../contracts/operations';
import { capacity, ticket, token } from './guide';
import type { Handler } from './handling';
import { invoice, payment } from './invoices';
import { canceled, detained, released, started } from './statuses';
import { violation, violationGuide } from './violations';

/** How the simulated service carries out each operation of the table. */
export const HANDLERS: Readonly<Record<OperationName, Handler>> = {
  token,
  started,
  detained,
  canceled,
  released,
  invoice,
  payment,
  violation,
  violation_guide: violationGuide,
  capacity,
  ticket,
};
