import { REPORT_SCENARIOS } from './report-scenarios';
import { sweep } from './sweep';

sweep(REPORT_SCENARIOS);
