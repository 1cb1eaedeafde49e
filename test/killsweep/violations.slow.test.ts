import { RUN_SCENARIOS } from './run-scenarios';
import { DELIVERY_SCENARIOS } from './delivery-scenarios';
import { sweep } from './sweep';
import { VIOLATION_SCENARIOS } from './violation-scenarios';

sweep([...DELIVERY_SCENARIOS, ...VIOLATION_SCENARIOS, ...RUN_SCENARIOS]);
