import { z } from 'zod';
import { towingReference } from './common';

/** What a queue job carries: the name of one record and nothing else. */
export const deliveryJob = z.strictObject({ delivery_id: z.string().min(1) });
export const reportJob = z.strictObject({ towing_reference_id: towingReference });
