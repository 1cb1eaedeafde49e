import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';

/**
 * Defaults of the whole process. Imported before all else: loading other modules starts the threads, and later changes
 * have no effect.
 *
 * Gives Node 16 threads for files and names in place of 4, unless UV_THREADPOOL_SIZE is set. A call on a disk that hangs,
 * such as NFS, holds its thread until the disk answers. Without a free thread no name is resolved, so that every new
 * connection to the service times out. A worker has fewer such calls at once. tsx starts the threads earlier, so
 * `npm start` sets the same.
 */
process.env['UV_THREADPOOL_SIZE'] ??= '16';

/**
 * Of a name with several addresses, Node gives up each but the last after 250 ms: on a slow line every one. Half of the
 * shortest time for a connect (Redis, 1 s) leaves time for a second address.
 */
export const CONNECT_ATTEMPT_MS = 500;
setDefaultAutoSelectFamilyAttemptTimeout(CONNECT_ATTEMPT_MS);
