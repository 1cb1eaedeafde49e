import { z } from 'zod';
import { towingReference } from '../../domain/stored';

/**
 * Payloads of queue jobs: record names and nothing else. Deliveries are cheap, so a job has several. So has a job of
 * reports while more tows are due than workers run at a time.
 */
export const deliveryJob = z.strictObject({ delivery_ids: z.array(z.string().min(1)).min(1) });
export type DeliveryJob = z.infer<typeof deliveryJob>;
/** A job of one tow names it as all versions of towhook do. */
const oneTowJob = z.strictObject({ towing_reference_id: towingReference });
const severalTowsJob = z.strictObject({ towing_reference_ids: z.array(towingReference).min(1) });
export const reportJob = z.union([oneTowJob, severalTowsJob]);
export type ReportJob = z.infer<typeof reportJob>;
/** The tows of a job, in the order in which they became due. */
export function towsOfJob(job: ReportJob): readonly string[] {
  return 'towing_reference_ids' in job ? job.towing_reference_ids : [job.towing_reference_id];
}
export const violationJob = z.strictObject({ violation_id: z.string().min(1) });
export const runJob = z.strictObject({ run_id: z.string().min(1) });
export type RunJob = z.infer<typeof runJob>;
export const subscriptionJob = z.strictObject({ subscription_id: z.string().min(1) });
export type SubscriptionJob = z.infer<typeof subscriptionJob>;

/**
 * The result of a job. A job never fails: later work is scheduled, and decisions become tasks. `what` is a short text
 * for the queue dashboard.
 *
 * - done: any remaining work is scheduled.
 * - continue: more work for the record `ref` can start at once, before its schedule.
 */
export type JobOutcome =
  | { readonly kind: 'done'; readonly what: string }
  | { readonly kind: 'continue'; readonly what: string; readonly ref: string };
