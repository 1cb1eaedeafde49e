import { z } from 'zod';

/** Somebody who has signed in, as stored; neither the id of the session nor the key is. */
export const sessionRecord = z.object({ keyHash: z.string(), createdAt: z.string() });
