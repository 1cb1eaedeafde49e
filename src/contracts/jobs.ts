import { z } from 'zod';
import { towingReference } from './common';

/** What a queue job carries: the name of one record and nothing else. */
export const deliveryJob = z.strictObject({ delivery_id: z.string().min(1) });
export type DeliveryJob = z.infer<typeof deliveryJob>;
export const reportJob = z.strictObject({ towing_reference_id: towingReference });
export type ReportJob = z.infer<typeof reportJob>;
export const violationJob = z.strictObject({ violation_id: z.string().min(1) });
export type ViolationJob = z.infer<typeof violationJob>;
