import { join, resolve, sep } from 'node:path';

/** The compiled project, inside the folder of the project. */
const COMPILED = join('.cache', 'compiled');

/** The folder of the project. This file may be the compiled one. */
export const PROJECT = resolve(__dirname.replace(`${sep}${COMPILED}${sep}`, sep), '..', '..');
