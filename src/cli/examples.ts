import type { InputField } from '../contracts/input-fields';
import { optionNamed } from './fields';

/** An example of every value that a command of a route needs. */
const EXAMPLES: Readonly<Record<string, string>> = {
  towing_reference_id: 'TW-20261120-ABC123',
  report_id: 'started-1',
  violation_id: 'patrol-7-0042',
  hold_id: '0b5c…',
  photo_id: '0b5c…',
  image_number: '1',
  delivery_id: '0b5c…',
  difference_id: 'answer.started.1c2d3e4f',
  task_id: 'invoice_mismatch.TW-20261120-ABC123',
  run_id: '0b5c…',
  action: 'retry',
  key_id: '5b0e…',
  zone_id: '3f2b8c1e-5d7a-4e0f-9c66-1a2b3c4d5e6f',
  operation: 'started',
  queue: 'reports',
  channel: 'mail',
  step: 'en_route',
  crew: '"Crew 4"',
  yard: 'North',
  text: '"Owner calls back at 14:00"',
  reason: '"seen at the service"',
  cancellation_reason: '"Vehicle gone on arrival"',
  vehicle_type: 'HEAVY',
  name: 'yard',
  role: 'crew',
  plateNumber: '"ABC 1234"',
  plateType: 'PRIVATE',
  violationType: 'WRONG_PARKING',
  zoneId: '3f2b8c1e-5d7a-4e0f-9c66-1a2b3c4d5e6f',
  location: '"Olaya Street"',
  latitude: '24.69',
  longitude: '46.68',
};

/** The command of a route with an example of each argument, and of each option that it needs. */
export function exampleOf(command: string, options: readonly InputField[], more: readonly string[] = []): string {
  const words = command.replaceAll(/[<[](\w+)(?:\.\.\.)?[>\]]/g, (_argument, name: string) => EXAMPLES[name] ?? name);
  const needed = options.filter(({ isRequired }) => isRequired);
  const given = needed.map(({ name }) => `${optionNamed(name)} ${EXAMPLES[name] ?? '…'}`);
  return ['towhook', words, ...given, ...more].join(' ');
}
