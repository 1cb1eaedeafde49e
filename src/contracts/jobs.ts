import { z } from 'zod';
import { towingReference } from './common';

/** What a queue job carries: the name of one record and nothing else; of deliveries several, which cost little each. */
export const deliveryJob = z.strictObject({ delivery_ids: z.array(z.string().min(1)).min(1) });
export type DeliveryJob = z.infer<typeof deliveryJob>;
export const reportJob = z.strictObject({ towing_reference_id: towingReference });
export type ReportJob = z.infer<typeof reportJob>;
export const violationJob = z.strictObject({ violation_id: z.string().min(1) });
export type ViolationJob = z.infer<typeof violationJob>;
export const bulkJob = z.strictObject({ bulk_id: z.string().min(1) });
export type BulkJob = z.infer<typeof bulkJob>;
