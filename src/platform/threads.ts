/**
 * Gives Node 16 threads for files and names in place of 4, unless UV_THREADPOOL_SIZE is set. A call on a disk that hangs,
 * such as NFS, holds its thread until the disk answers. Without a free thread no name is resolved, so that every new
 * connection to the service times out. A worker has fewer such calls at once.
 *
 * Imported before all else: loading other modules starts the threads, and later changes have no effect. tsx starts them
 * earlier, so `npm start` and towhook.cjs set the same.
 */
process.env['UV_THREADPOOL_SIZE'] ??= '16';
