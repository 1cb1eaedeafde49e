import { z } from 'zod';
import { jsonObject } from '../common';

/** What the simulator reports about itself to tests. */

export const simulatorCall = z.looseObject({
  operation: z.string(),
  body: jsonObject.nullable().catch(null),
  status: z.number().nullable(),
  effect: z.boolean(),
  fault: z.string().nullable(),
  /** Whether the caller gave up before its call was read; such a call may be read after later ones. */
  hung_up: z.boolean().default(false),
});
export type SimulatorCall = z.infer<typeof simulatorCall>;
export const simulatorCalls = z.object({ items: z.array(simulatorCall) });

export const simulatorWebhook = z.looseObject({
  kind: z.string(),
  towing_reference_id: z.string(),
  webhook_id: z.string(),
  status: z.number().nullable(),
  fault: z.string().nullable(),
});
export const simulatorWebhooks = z.object({ items: z.array(simulatorWebhook) });

/** A received violation: its fields as sent, its images by their hashes. */
export const simulatorViolation = z.looseObject({
  violation_reference_id: z.string(),
  plate_number: z.string().nullable(),
  metadata: jsonObject.nullable(),
  /** True when a tow was ordered for it. */
  towed: z.boolean(),
  fields: jsonObject,
  images: z.array(z.object({ name: z.string().nullable(), size: z.number(), sha256: z.string() })),
});
export const simulatorViolations = z.object({ items: z.array(simulatorViolation) });

export const simulatorOrders = z.object({
  items: z.array(z.looseObject({ towing_reference_id: z.string(), violation_reference_id: z.string() })),
});
