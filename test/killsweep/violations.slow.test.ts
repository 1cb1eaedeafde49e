import { BULK_SCENARIOS } from './bulk-scenarios';
import { DELIVERY_SCENARIOS } from './delivery-scenarios';
import { sweep } from './sweep';
import { VIOLATION_SCENARIOS } from './violation-scenarios';

sweep([...DELIVERY_SCENARIOS, ...VIOLATION_SCENARIOS, ...BULK_SCENARIOS]);
