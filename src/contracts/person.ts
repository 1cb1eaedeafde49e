import { z } from 'zod';
import { ROLES } from '../domain/vocabulary';

/** Who acts, as stored: the id of an API key or of a person at the provider, name and role. */
export const person = z.object({ id: z.string(), name: z.string(), role: z.enum(ROLES) });
